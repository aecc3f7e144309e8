"""Plain typed values: events, project configuration, errors. No I/O, no clock."""
