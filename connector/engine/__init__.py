"""Per-project state and its rules: update, resolve, quality. Deterministic, no I/O, no clock."""
