"""What holds for all tests."""

import os

# Tests share the cores already: BLAS threads that wait for each other spin, and cost more than all that they compute.
# Read when numpy is imported; a fit keeps to one of them by itself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a first call compiles, and machines are busy
settings.load_profile("untimed")


@pytest.fixture
def few_trees(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Additive fits grow few trees, for tests that do not judge how good they are; slow cases all."""
    if request.node.get_closest_marker("slow") is None:
        from tests.habits import ADDITIVE, FEW_TREES

        for learner in ADDITIVE:
            monkeypatch.setattr(learner, "tuning", FEW_TREES)
