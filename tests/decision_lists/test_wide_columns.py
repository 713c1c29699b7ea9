"""Columns of many categories: the same candidates, found with work by the literal, or refused before any is made."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import DecisionListClassifier, PrivacyAccount
from tacit.decision_lists import literals
from tacit.decision_lists.literals import candidates, column_literals, most_literals
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.privacy.request import RequestError
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.covers.pairs import Pairs
from tests.decision_lists.counted_work import peak_bytes, within_calls


def categories(n: int) -> tuple[str, ...]:
    return tuple(f"c{i}" for i in range(n))


def schema(*sizes: int) -> dict[str, Any]:
    columns = {
        f"x{j}": {"kind": "categorical", "categories": list(categories(n)), "allow": "identifier"}
        for j, n in enumerate(sizes)
    }
    return {"label": {"column": "y", "classes": ["no", "yes"]}, "columns": columns}


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_literals_hold_for_the_codes_of_their_conditions(n: int) -> None:
    for encoder in (CategoryIndex(categories(n)), BooleanIndex()):
        mapping, conditions, truths = column_literals(3, encoder, 16)
        assert mapping is None
        assert len(conditions) == len(truths) == most_literals(encoder, 16)
        for condition, truth in zip(conditions, truths, strict=True):
            assert np.array_equal(truth, condition.holds(np.arange(encoder.n_codes), encoder))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_candidates_are_those_of_a_look_at_every_pair(k: int) -> None:
    encoders: tuple[Encoder, ...] = (
        CategoryIndex(categories(6)),
        NumericGrid(0, 10, 5),
        BooleanIndex(),
        CategoryIndex(("a",)),
    )
    result = candidates(encoders, k, 16, 2, constant=True).conjunctions
    assert isinstance(result, Conjunctions)
    n = len(result.columns)
    assert n == sum(most_literals(encoder, 16) for encoder in encoders)
    apart = set()
    for i, j in itertools.combinations(range(n), 2):
        if result.columns[i] == result.columns[j]:
            one, two = result.truths[i], result.truths[j]
            if not (one & two).any() or not (one & ~two).any() or not (two & ~one).any():
                apart.add((i, j))
    expected = [(-1,) * k]
    for length in range(k, 0, -1):
        sets = itertools.combinations(range(n), length)
        kept = [chosen for chosen in sets if apart.isdisjoint(itertools.combinations(chosen, 2))]
        expected += [chosen + (-1,) * (k - length) for chosen in kept]
    assert [tuple(line) for line in result.members.tolist()] == expected


def test_a_column_of_thousands_of_categories_is_enumerated() -> None:
    n = 4_000
    encoder = CategoryIndex(categories(n))

    def enumerated() -> StreamedConjunctions:
        result = candidates((encoder,), 2, 16, 2, constant=False).conjunctions
        assert isinstance(result, StreamedConjunctions)
        return result

    result = within_calls(100 * 2 * n, enumerated)  # for each of the 32 million pairs there is no time
    assert len(result) == math.comb(n, 2) + 2 * n + 1
    assert result.size(0) == 0  # "is c0" goes with nothing else on the column
    assert result.members(1).tolist() == [[1, 2 * j + 1] for j in range(1, n)]  # "is not c0" with each other negation
    assert result.literals_of(len(result) - 1) == [2 * n]
    assert peak_bytes(enumerated) < 2_000 * 2 * n  # 16 MB; a flag per literal and code would be 32 MB


def test_a_wide_column_is_listed_with_work_by_the_literal() -> None:
    n = 1_000
    encoder = CategoryIndex(categories(n))
    result = within_calls(100 * 2 * n, lambda: candidates((encoder,), 2, 16, 2, constant=True).conjunctions)
    assert isinstance(result, Conjunctions)
    assert len(result) == 1 + math.comb(n, 2) + 2 * n + 1


@pytest.mark.parametrize(
    ("sizes", "unmade"),
    [
        ((20_000,), (literals, "column_literals")),  # far too many literals: not one is made
        ((5_000, 5_000), (Pairs, "of")),  # the pairs across columns are too many: none is looked at
    ],
)
def test_too_many_are_refused_at_once(
    sizes: tuple[int, ...], unmade: tuple[object, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def made(*_: object) -> None:
        raise AssertionError(f"{unmade[1]} was called")

    monkeypatch.setattr(*unmade, made)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 100.0, 1e-6)
    estimator = DecisionListClassifier(schema=schema(*sizes), account=account)
    rows = pd.DataFrame({f"x{j}": ["c0", "c1"] for j in range(len(sizes))})
    with pytest.raises(RequestError, match=r"fewer categories\. Nothing was spent\.$"):
        within_calls(10_000_000, lambda: estimator.fit(rows, ["no", "yes"]))
    assert account.spent == 0


def test_one_column_of_too_many_categories_is_refused_with_work_by_the_literal(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 11_600
    encoder = CategoryIndex(categories(n))
    assert 2 * math.comb(n, 2) > 1 << 27
    monkeypatch.setattr(literals, "MOST_STREAMED", 1 << 40)  # so that the exact count has to refuse
    with pytest.raises(ValueError, match="fewer categories"):
        within_calls(100 * 2 * n, lambda: candidates((encoder,), 2, 16, 2, constant=False))
