"""The plain fold of the log: simple, slow, and sharing no code with the product."""
