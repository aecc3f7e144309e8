"""Tests of CrowdResolve: one directory per room of the code."""
