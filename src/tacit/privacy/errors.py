"""Errors of the budget store."""

from __future__ import annotations

from tacit.errors import TacitError


class AccountError(TacitError):
    """An account that cannot be created, opened or used. The message says what would be right; nothing was spent."""

    usual = "; nothing was spent"
