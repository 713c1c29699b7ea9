"""What one protected unit is called: said by the first schema that names it, which may come after the unit itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tacit.privacy.migrations.versions.initial import only_append

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Makes their table."""
    dataset = sa.Column("dataset", sa.String(255), sa.ForeignKey("tacit_accounts.dataset"), primary_key=True)
    op.create_table("tacit_unit_names", dataset, sa.Column("name", sa.Text(), nullable=False))
    only_append("tacit_unit_names")
