"""Releases looked at themselves: planted bugs are found by many cheap trials, and honest releases pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.planted import BUGS, PATHS
from tacit.audit import Audit, audit_releases
from tacit.privacy.charges import Gaussian, Laplace
from tests.chance import SURE, at_most_share

HONEST = list(BUGS["none"].paths)
PLANTED = [
    ("noise left out", "joint"),
    ("noise of half the scale", "Laplace"),
    ("noise of half the scale", "Gaussian"),
    ("the same noise twice", "Gaussian"),
    ("the same noise twice", "joint"),  # of a row in other cells of the two: in like cells it would cancel, too
    ("half the sensitivity", "Gaussian"),
    ("half the sensitivity", "joint"),
    ("noise for the other relation", "replace_one"),
    ("a person's rows charged as one", "unit"),
]


@pytest.mark.parametrize("path", HONEST)
def test_honest_releases_pass(path: str) -> None:
    result = PATHS[path].audited(300, confidence=SURE, random_state=1)
    assert result.holds, result
    assert result.neighbouring == str(PATHS[path].relation)


@pytest.mark.slow
@pytest.mark.parametrize("path", HONEST)
def test_twenty_honest_runs_raise_few_alarms(path: str) -> None:
    alarms = sum(not PATHS[path].audited(600, confidence=0.95, random_state=seed).holds for seed in range(20))
    assert at_most_share(alarms, 20, 0.05)


SLOW = ("a sensitivity a fifth too small", "joint")
"""Decided after more than a thousand trials; test_replay_audit finds it in three fits."""

HARD = ("noise of half the scale", "Laplace")
"""One of four draws was not decided in 6,000 trials; of all other bugs each was, after at most 1,481."""


@pytest.mark.parametrize(
    ("bug", "path"),
    [
        *(pytest.param(*each, marks=[pytest.mark.one_draw(reason=HARD[0])] * (each == HARD)) for each in PLANTED),
        pytest.param(*SLOW, marks=pytest.mark.slow),
    ],
)
def test_a_planted_bug_is_found(bug: str, path: str) -> None:
    with BUGS[bug].planted():
        result = PATHS[path].audited(6000, random_state=0)
    assert not result.holds, result
    assert result.trials < 6000  # it stops when it is decided
    assert "VIOLATED" in result.meaning


def test_any_mechanism_of_ones_own_can_be_audited() -> None:
    def counts(table: int, seed: int | None) -> Any:
        return table + np.random.default_rng(seed).laplace(scale=scale)

    scale = 1.0
    honest = audit_releases(counts, 21, 20, [Laplace(1.0)], trials=500, confidence=SURE, random_state=0)
    assert honest.holds
    assert honest.epsilon_lower <= 1.0
    assert honest.estimator == "counts"
    assert honest.gaussian is None
    scale = 0.5
    assert not audit_releases(counts, 21, 20, [Laplace(1.0)], trials=2000, random_state=0).holds


@pytest.mark.one_draw(reason="by itself the evidence of each of these audits is too weak, and of most others not")
def test_evidence_that_is_too_weak_by_itself_counts_together() -> None:
    def counts(table: int, seed: int | None) -> Any:
        return table + np.random.default_rng(seed).laplace(scale=0.5)

    audits: list[Audit] = []
    for version in range(4):
        more = {"trials": 150, "random_state": version, "earlier": audits}
        audits.append(audit_releases(counts, 21, 20, [Laplace(1.0)], **more))
    assert audits[0].holds
    assert not audits[-1].holds
    assert audits[-1].epsilon_lower < 1 < len(audits[-1].meaning)
    assert "in earlier ones" in audits[-1].meaning
    assert sum(audit.evidence for audit in audits) > np.log(20) > audits[-1].evidence  # each has its own alone
    with pytest.raises(ValueError, match="an earlier audit is of epsilon 1"):
        audit_releases(counts, 21, 20, [Laplace(2.0)], earlier=audits)
    assert Audit.from_dict(audits[-1].to_dict()) == audits[-1]


@pytest.mark.parametrize(
    ("run", "more", "words"),
    [
        (lambda table, seed: 1.0, {"trials": 3}, "at least 10"),
        (lambda table, seed: 1.0, {"confidence": 1.5}, "between 0 and 1"),
        (lambda table, seed: 1.0, {"charges": [Gaussian(1.0)]}, "no finite epsilon"),
        (lambda table, seed: np.zeros(table), {}, "always as many"),
        (lambda table, seed: 1.0, {"neighbouring": "both"}, "both"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_words(run: Any, more: dict[str, Any], words: str) -> None:
    charges = more.pop("charges", [Laplace(1.0)])
    with pytest.raises(ValueError, match=words):
        audit_releases(run, 2, 1, charges, **more)
