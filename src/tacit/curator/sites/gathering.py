"""What `fit` is given in the place of a table: sites that will join it. Loads nothing that talks to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from tacit.curator.sites.parties import Parties


@final
@dataclass(frozen=True, eq=False)
class Sites:
    """Sites that will join a fit; made by :func:`tacit.join_sites`.

    Attributes:
        listen: ``HOST:PORT`` where they connect.
        parties: who takes part; this is the coordinator.
        wait: seconds until all of them must be there.
        patience: seconds that an answer may take.
    """

    listen: str
    parties: Parties
    wait: float
    patience: float

    def __repr__(self) -> str:
        return f"<sites {', '.join(self.parties.sites)}>"
