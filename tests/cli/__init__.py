"""Tests of the settings and of the command, mostly as users run it: as a process."""
