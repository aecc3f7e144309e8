"""Rows for people and their scripts: as a table, CSV, JSON; what a view's figures say in words."""
