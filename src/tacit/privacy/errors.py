"""Errors of the budget store."""

from __future__ import annotations


class AccountError(ValueError):
    """An account that cannot be created, opened or used. The message says what would be right; nothing was spent."""
