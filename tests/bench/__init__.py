"""What it costs, and whether what it says of itself is true: `python -m tests.bench`."""
