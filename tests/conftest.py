"""What holds for all tests."""

import gc
import os
from collections import Counter
from pathlib import Path

# Tests share the cores already: BLAS threads that wait for each other spin, and cost more than all that they compute.
# Read when numpy is imported; a fit keeps to one of them by itself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent

settings.register_profile("untimed", deadline=None, max_examples=50)  # a first call compiles, and machines are busy
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Statistical tests can be run on other draws."""
    parser.addoption("--salt", type=int, help="a number: every seed of tests stands for another one")


def pytest_configure(config: pytest.Config) -> None:
    """Seeds are other ones before a test is imported."""
    if config.option.salt is not None:
        from tests.salt import draw_anew

        draw_anew(config.option.salt)


def pytest_collection(session: pytest.Session) -> None:
    """Workers of one run share the work that each would do alone, before they collect."""
    gc.disable()  # all that is collected stays, and would be looked through again and again as it grows
    if "PYTEST_XDIST_WORKER" in os.environ:
        from tests.workers import import_share, take_turns

        take_turns()
        worker, workers = os.environ["PYTEST_XDIST_WORKER"], os.environ["PYTEST_XDIST_WORKER_COUNT"]
        import_share(session, int(worker.removeprefix("gw")), int(workers))


LONG_FILES = ("golden/test_cases.py", "test_pages.py", "test_readme.py", "test_site.py", "replay/test_replay.py")
"""They begin first: the last file to begin is what a run waits for."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first, then by their number of cases (``--no-loadscope-reorder`` hands them out in this order)."""
    if config.option.salt is not None:
        items[:] = [item for item in items if item.get_closest_marker("one_draw") is None]
    sizes = Counter(item.path for item in items)
    long = {ROOT / name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: (long.get(item.path, len(long)), -sizes[item.path]))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Garbage is looked for among what tests make, not among the tests, and less often: fits make much and keep it."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


@pytest.fixture(autouse=True)
def tables_of_accounts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts have their tables at once and wait for no disk, but in the tests that are about them."""
    from tests.accounts import connect_without_waiting, write_tables

    if ROOT / "privacy" not in request.path.parents:
        monkeypatch.setattr("tacit.privacy.database._upgrade", write_tables)
        monkeypatch.setattr("tacit.privacy.database._sqlite_connected", connect_without_waiting)


def grow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tuning: str) -> None:
    """Additive fits are tuned as the page of habits says; slow cases as ever."""
    if request.node.get_closest_marker("slow") is None:
        from tests import habits

        for learner in habits.ADDITIVE:
            monkeypatch.setattr(learner, "tuning", getattr(habits, tuning))


@pytest.fixture
def few_trees(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Additive fits grow few trees, for tests that do not judge how good they are."""
    grow(request, monkeypatch, "FEW_TREES")


@pytest.fixture
def few_rounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Additive fits have few rounds of every kind, for tests of what happens at each release."""
    grow(request, monkeypatch, "FEW_ROUNDS")


@pytest.fixture
def few_rounds_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in slow cases too, which are slow because there are many of them."""
    from tests import habits

    for learner in habits.ADDITIVE:
        monkeypatch.setattr(learner, "tuning", habits.FEW_ROUNDS)
