"""What can go wrong between sites."""

from __future__ import annotations

from tacit.errors import UNSPENT, TacitError


class SitesError(TacitError):
    """Sites that do not come together, do not agree, or are gone. The message names the site."""

    usual = UNSPENT
