"""The database: schema, migrations, the store that the pipeline writes through, reading for people.

Each module is imported by name, so that `replay` without a database loads none of it.
"""
