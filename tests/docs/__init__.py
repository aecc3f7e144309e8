"""What keeps README.md true: `python -m tests.docs` writes its tables, the tests read the rest."""
