"""Every learner, recorded and replayed on neighbours: all that rows do goes through the gate, and is paid for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import pytest

import tacit
from tests.replay.cases import CASES, Case, requests
from tests.replay.held import record, replay
from tests.replay.neighbours import Neighbour, neighbours, persons, rounds, table_of

RUNS = [(case, request) for case in CASES for replacing in (False, True) for request in requests(case, replacing)]


def name_of(value: Any) -> str:
    if isinstance(value, Case):
        return value.name
    return f"{value['neighbouring']}, delta {value['delta']:g}" if isinstance(value, dict) else str(value)


def beside(case: Case, request: dict[str, Any], rows: Any, seed: int) -> Iterator[Neighbour]:
    replacing = request["neighbouring"] == "replace_one"
    if case.unit:
        return persons(rows, replacing, seed)
    return rounds(rows, seed) if case.stream and not replacing else neighbours(rows, replacing, seed)


def held(case: Case, request: dict[str, Any], count: int, seed: int) -> None:
    rows = table_of(case.kind, case.n, unit=case.unit, seed=seed)
    run = case.make(request)
    tape = record(run, rows)
    assert not tape.faults
    assert len(tape.events) > 1
    results = {}
    tightest = 0.0
    for beside_it in islice(beside(case, request, rows, seed), count):
        against = replay(tape, run, beside_it)
        tightest = max(tightest, against.tightest)
        if against.faults:
            results[beside_it.name] = against.faults[:3]
    assert not results
    assert tightest > 0  # some answer moved: the neighbours are neighbours


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(("case", "request_"), RUNS, ids=name_of)
def test_a_neighbour_changes_nothing_but_exact_answers(case: Case, request_: dict[str, Any]) -> None:
    held(case, request_, case.few, seed=len(case.name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("case", "request_"), RUNS, ids=name_of)
def test_many_neighbours_change_nothing_but_exact_answers(case: Case, request_: dict[str, Any], seed: int) -> None:
    held(case, {**request_, "random_state": 10 + seed}, 24, seed)


NOT_LEARNERS = {
    "DeclaredEncoder": "follows from a schema and reads no rows",
    "DeclaredScaler": "follows from a schema and reads no rows",
    "load_model": "reads a file",
    "save_model": "writes a file",
    "serve_site": "answers with shares of sums: the fit is that to a table, bit by bit, and is replayed there",
    "ConfidentWinnow": "asks a guarantee of its caller and gives none of its own",
}


def public_readers() -> set[str]:
    """Public names that read rows: what fits, learns from rounds, or takes an epsilon."""
    results = set()
    for module in (
        tacit,
        *(import_module(f"tacit.{room}") for room in ("closure", "online", "resampling", "evaluation")),
    ):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if isinstance(value, type):
                reads = hasattr(value, "fit") or hasattr(value, "learn_one")
            else:
                reads = inspect.isfunction(value) and "epsilon" in inspect.signature(value).parameters
            if reads and name not in NOT_LEARNERS:
                results.add(name)
    return results


def test_every_public_learner_has_a_case() -> None:
    covered = {name for case in CASES for name in case.covers}
    assert public_readers() <= covered
    assert "AdditiveBoostClassifier" in public_readers()
    assert "private_score" in public_readers()
