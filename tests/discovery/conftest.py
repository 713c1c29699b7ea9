"""Additive fits of this room have few rounds: what a test says of a fit, it says of a short one."""

import pytest


@pytest.fixture(autouse=True)
def _short(few_rounds: None) -> None:
    """For every test of this room; one that asks for ``few_trees`` has all other rounds."""
