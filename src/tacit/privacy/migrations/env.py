"""What alembic runs to bring a store to the present tables: over the connection that the store hands it."""

from __future__ import annotations

from alembic import context

from tacit.privacy.database import VERSION_TABLE
from tacit.privacy.store_records import METADATA

context.configure(
    connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=VERSION_TABLE
)
with context.begin_transaction():
    context.run_migrations()
