"""Additive fits of this room grow few trees: what a test says of a fit, it says of one of few trees."""

import pytest


@pytest.fixture(autouse=True)
def _short(few_trees: None) -> None:
    """For every test of this room; one that asks for ``few_rounds`` has fewer still."""
