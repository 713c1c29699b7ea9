"""Bugs planted on purpose, and which audit finds them (the table in docs/audit.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
import tacit.queries.keys
from benchmarks.planted import BUGS, LEARNERS, WIDE
from tacit.audit import audit_estimator
from tacit.audit.judge import first_choice
from tacit.audit.replay import Facts, facts_of

pytestmark = pytest.mark.usefixtures("few_rounds")

TRIALS = 40
FOREST, ADDITIVE = LEARNERS
SPELLED = {
    "bounds from the rows": "schema.columns.x.upper is 1000001",
    "categories from the rows": "is 'canary'",
    "charges that follow from the number of rows": "certificate",
    "an uncharged peek, shown": "rare is 21",
    "alpha without noise": "alpha is",
}


@pytest.mark.parametrize(
    ("learner", "bug"),
    [
        *((FOREST, bug) for bug in SPELLED),
        (ADDITIVE, "an uncharged peek, shown"),
        *(pytest.param(ADDITIVE, bug, marks=pytest.mark.slow) for bug in SPELLED if "peek" not in bug),
    ],
)
def test_what_a_model_spells_out_is_found(learner: str, bug: str) -> None:
    result = audit_estimator(LEARNERS[learner](BUGS[bug]), trials=40, random_state=0)
    assert not result.holds, bug
    assert (result.hits, result.false_alarms) == (result.counts.trials, 0)
    assert SPELLED[bug] in str(result.leak)
    assert "spell it out" in result.meaning
    assert result.to_dict()["leak"] == result.leak


@pytest.mark.parametrize("bug", ["noise left out", "eight fits sold as one"])
def test_too_little_noise_is_found_in_models_of_one_tree(bug: str) -> None:
    with BUGS[bug].planted():
        result = audit_estimator(LEARNERS[FOREST](BUGS[bug]), trials=100, random_state=0)
    assert not result.holds, result


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "learner",
    [
        lambda: tacit.AdditiveBoostClassifier(interactions=False),
        lambda: tacit.RandomTreesClassifier(n_trees=2, classes=(0, 1)),
        lambda: tacit.RandomTreesClassifier(n_trees=1, schema=WIDE, delta=0.0),
    ],
)
def test_of_honest_learners_nothing_is_spelled_out(learner: Any) -> None:
    result = audit_estimator(learner(), trials=TRIALS, random_state=0)
    assert result.holds
    assert result.leak is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_category_that_is_found_without_a_charge_is_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a schema the canary's text is nobody else's: a threshold that lets it through is seen at once."""
    monkeypatch.setattr(tacit.queries.keys.KeyCounts, "threshold", staticmethod(lambda *_: -(1 << 40)))
    result = audit_estimator(tacit.AdditiveBoostClassifier(interactions=False), trials=30, random_state=0)
    assert not result.holds
    assert "canary" in str(result.leak)


class Spelling:
    """A model that spells out what it is told to."""

    def __init__(self, *said: Any) -> None:
        self.classes_ = list(said)


def test_a_fact_is_chosen_on_the_first_fits_and_counted_on_the_others() -> None:
    facts, said = Facts(10), []
    for trial in range(30):
        for side in (0, 1):
            there = side == 1 if trial < 10 else trial % 3 == 0
            said.append(facts.add(side, Spelling("all", f"noise {trial} {side}", *(["canary"] if there else []))))
    assert facts.leak is not None
    assert said == [None] * 20 + [trial % 3 == 0 for trial in range(10, 30) for _ in range(2)]


def test_what_is_missing_tells_as_much_as_what_is_there() -> None:
    facts = Facts(5)
    for trial in range(15):
        chosen = trial >= 5 or None
        assert facts.add(0, Spelling("usual", "without")) is (chosen and False)
        assert facts.add(1, Spelling("usual")) is chosen


def test_the_luckiest_of_thousands_is_no_leak() -> None:
    source = np.random.default_rng(0)
    facts = Facts(first_choice(300))
    for _ in range(40):
        for side in (0, 1):
            assert facts.add(side, Spelling(*source.integers(0, 2, 3000).tolist())) is None
    assert facts.leak is None


def test_the_facts_of_a_fit_are_those_of_its_file() -> None:
    rows = pd.DataFrame({"x": np.linspace(0, 1, 50)})
    schema = {"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 7.25}}}
    fitted = tacit.RandomTreesClassifier(n_trees=1, schema=schema, classes=("no", "canary")).fit(rows, np.zeros(50))
    said = set(facts_of(fitted))
    assert "schema.columns.x.upper is 7.25" in said
    assert any("canary" in fact for fact in said if fact.startswith("model"))
    assert any(fact.startswith("certificate.charges[0]") for fact in said)
    assert not any("digest" in fact or "created" in fact for fact in said)
