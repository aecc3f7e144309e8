"""Runs the migrations on a connection that is given.

`crowdresolve db upgrade` (`connector.adapters.sql.migrate`) makes the configuration in code, so
there is no alembic.ini; alembic's own command line is not used.
"""

from __future__ import annotations

from alembic import context

from connector.adapters.sql.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
