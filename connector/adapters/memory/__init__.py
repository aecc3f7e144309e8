"""The ports in memory: for tests, and for where there is nothing else."""
