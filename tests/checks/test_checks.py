"""The contracts that ship: what keeps them passes (tests/contracts, and beside the queries); planted faults do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.checks import CheckError, check_learner, check_mechanism, check_query
from tacit.engines.blocks import MemoryTable
from tacit.engines.passes.base import Pass, register
from tacit.noise import SeededSource
from tacit.privacy.charges import Charge, Gaussian, Laplace
from tacit.queries.query import Sensitivity
from tests.noise.exact import gaussian_pmf, laplace_pmf

SCHEMA = {
    "label": {"column": "sick", "classes": ["no", "yes"]},
    "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 10}, "smokes": {"kind": "boolean"}},
}


class Forest(tacit.RandomTreesClassifier):
    """One tree; its learner keeps the name of the library's."""


class Raises(tacit.RandomTreesClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        if "maybe" in list(y):
            raise ValueError("no such class")
        return super().fit(X, y)


class Cheaper(tacit.RandomTreesClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        epsilon, self.epsilon = self.epsilon, self.epsilon / (1 + len(set(y)))
        super().fit(X, y)
        self.epsilon = epsilon
        return self


class Forgetful(tacit.RandomTreesClassifier):
    def __getstate__(self) -> Any:
        return {key: value for key, value in super().__getstate__().items() if key != "certificate_"}


class Unseeded(tacit.RandomTreesClassifier):
    fits = 0

    def fit(self, X: Any, y: Any) -> Any:
        Unseeded.fits += 1
        self.random_state = Unseeded.fits
        return super().fit(X, y)


class Peeks(tacit.RandomTreesClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        self.seen_ = len(y)
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Forest, "its learner is called 'RandomTreesClassifier'"),
        (Raises, "strange cells in 240 rows: ValueError: no such class"),
        (Cheaper, "cells that nobody declared change what 240 rows cost"),
        (Forgetful, "a copy of the fitted estimator"),
        (Unseeded, "the same seed and rows give another model"),
        (Peeks, "what the fit shows differs"),
    ],
)
def test_a_learner_with_a_planted_fault_fails(kind: type[Any], words: str) -> None:
    with pytest.raises(CheckError) as caught:
        check_learner(kind(schema=SCHEMA, n_trees=1), neighbours=2 if kind is Peeks else 0)
    assert words in str(caught.value)
    assert "does not keep its contract" in str(caught.value)


def test_what_cannot_be_checked_is_refused_before_anything_is_spent(tmp_path: Any) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "survey", 1.0, 1e-6)
    with pytest.raises(ValueError, match="account=None"):
        check_learner(tacit.RandomTreesClassifier(schema=SCHEMA, account=account))
    with pytest.raises(ValueError, match="need a schema"):
        check_learner(tacit.RandomTreesClassifier())
    assert not list(account.reservations())


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of a column's codes, up to 20."""

    sensitive: int = 20
    scale: float = 1.0
    fault: str = ""
    shape = (1,)
    unit = 1

    def sensitivity(self, neighbouring: Any) -> Sensitivity:
        del neighbouring
        return Sensitivity(self.sensitive, self.sensitive**2, "codes up to 20" if self.fault != "silent" else "")


class Thawed(Sum.__mro__[1]):  # type: ignore[misc]
    """The same question, and no dataclass."""

    shape, unit, fault = (1,), 1, ""
    sensitivity = Sum.sensitivity
    sensitive = 20


class SumPass(Pass[Any]):
    def sums(self, query: Any, rows: Any) -> np.ndarray:
        total = np.array([int(rows.columns[0].astype(np.int64).sum())], np.int64)
        if query.fault == "float":
            return total.astype(float)
        if query.fault == "shape":
            return np.repeat(total, 2)
        if query.fault == "squares":
            return np.minimum(total**2, 20)
        return total


register(Sum, SumPass())
register(Thawed, SumPass())


def sealed(rows: list[Any]) -> MemoryTable:
    codes = np.array(rows, np.uint8).reshape(-1, 1)
    return MemoryTable([codes[:, 0]], np.zeros(len(codes), np.uint8), [21], 2)


ROWS = [[code] for code in range(21)]


def test_a_query_that_keeps_its_contract_passes_and_the_movement_is_told() -> None:
    assert check_query(Sum(), ROWS, sealed, tight=0.9) == {"add_or_remove_one": 1.0, "replace_one": 1.0}
    assert check_query(Sum(40), ROWS, sealed)["replace_one"] == 0.5


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Sum(18), "a row such as [20] moves the answer by 20 in L1"),
        (Sum(23), "no row moves the answer by more than 0.87"),
        (Sum(fault="silent"), "names no theorem"),
        (Sum(fault="squares"), "do not add up"),
        (Sum(sensitive=20.0), "not in whole units"),  # type: ignore[arg-type]
        (Thawed(), "no frozen dataclass"),
    ],
)
def test_a_query_with_a_planted_fault_fails(query: Any, words: str) -> None:
    with pytest.raises(CheckError) as caught:
        check_query(query, ROWS, sealed, tight=0.9)
    assert words in str(caught.value)


SOURCE = SeededSource(7)
FIXED = SeededSource(8).laplace(8.0, 200_000)


@pytest.mark.parametrize(
    ("draw", "charge", "words"),
    [
        (lambda n: SOURCE.laplace(7.2, n), None, "away from the law's"),
        (lambda n: FIXED[:n], None, "two calls made the same draws"),
        (lambda n: SOURCE.laplace(8.0, n) * 1.0, None, "must be int64"),
        (lambda n: SOURCE.laplace(8.0, n) + 10**6, None, "is no value of the law"),
        (lambda n: SOURCE.laplace(8.0, n), Laplace(8.8), "the law has a delta of"),
        (lambda n: SOURCE.gaussian(8.0, n), Gaussian(8.0), "away from the law's"),
    ],
)
def test_a_mechanism_with_a_planted_fault_fails(draw: Callable[[int], Any], charge: Charge | None, words: str) -> None:
    with pytest.raises(CheckError) as caught:
        check_mechanism(draw, laplace_pmf(8.0), charge)
    assert words in str(caught.value)


@pytest.mark.parametrize("shift", [1, 4])
def test_noise_that_pays_its_charge_passes_and_a_tenth_less_does_not(shift: int) -> None:
    check_mechanism(lambda n: SOURCE.laplace(8.0, n), laplace_pmf(8.0), Laplace(8.0 / shift), shift=shift)
    scale, charge = 40.0, Gaussian(math.sqrt(40.0**2 - 9) / shift)
    check_mechanism(lambda n: SOURCE.gaussian(scale, n), gaussian_pmf(scale), charge, shift=shift)
    with pytest.raises(CheckError, match="the law has a delta of"):
        check_mechanism(lambda n: SOURCE.gaussian(0.9 * scale, n), gaussian_pmf(0.9 * scale), charge, shift=shift)


def test_all_failures_are_listed_at_once() -> None:
    with pytest.raises(CheckError) as caught:
        check_query(replace(Sum(18), fault="silent"), ROWS, sealed)
    assert len(str(caught.value).splitlines()) > 3
