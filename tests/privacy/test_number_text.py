"""Texts of many floats together are those of `repr`, each by itself."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.privacy.canonical import MANY, canonical_json, sha256, sha256_of_numbers
from tacit.privacy.number_text import floats_text, ints_text

EDGES = [
    0.0,
    -0.0,
    1e-4,
    9.999e-5,
    1e-5,
    1e15,
    1e16,
    1e22,
    1e23,
    5e-324,
    0.1,
    1 / 3,
    -1e-9,
    100.0,
    2.0**52 - 0.5,
    2.0**53,
]


def expected(numbers: list[float]) -> str:
    return ",".join(map(repr, numbers))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@settings(max_examples=300, deadline=None)
def test_any_floats(numbers: list[float]) -> None:
    assert floats_text(numbers) == expected(numbers)


@pytest.mark.parametrize("seed", range(3))
def test_floats_that_models_hold(seed: int) -> None:
    """Fixed point, few decimals, and the neighbours of these, which need all digits; of every magnitude."""
    rng = np.random.default_rng(seed)
    few = np.round(10.0 ** rng.uniform(-9, 9, 3000), 7)
    fixed = np.rint(rng.normal(0, 1000, 3000)) / 2.0**16
    spread = 10.0 ** rng.uniform(-320, 308, 3000)
    for numbers in (few, np.nextafter(few, 0), np.nextafter(few, 9e9), fixed, spread, np.arange(300.0), EDGES):
        assert floats_text(list(numbers)) == expected([float(number) for number in numbers])


WHOLE = [0, -1, 10, -100, 2**31, 2**52 - 1, 1 - 2**52]


@pytest.mark.parametrize("beyond", [[], [2**52], [-(2**53) - 1], [2**63 - 1], [10**400]])
def test_whole_numbers(beyond: list[int]) -> None:
    numbers = [*WHOLE, *range(-1500, 1500), *beyond]
    assert ints_text(numbers) == ",".join(map(str, numbers))
    assert sha256_of_numbers(numbers) == sha256(numbers)


@given(st.lists(st.integers(), min_size=MANY))
@settings(max_examples=100, deadline=None)
def test_any_whole_numbers(numbers: list[int]) -> None:
    assert ints_text(numbers) == ",".join(map(str, numbers))


def test_arrays_are_written_as_their_lists() -> None:
    rng = np.random.default_rng(1)
    arrays = {
        "floats": rng.normal(size=2 * MANY),
        "few": rng.normal(size=3),
        "single": rng.normal(size=2 * MANY).astype(np.float32),
        "whole": rng.integers(-9, 9, 2 * MANY),
        "large": rng.integers(-(2**62), 2**62, 2 * MANY),
        "codes": rng.integers(0, 9, 2 * MANY).astype(np.uint8),
        "truth": rng.integers(0, 2, 2 * MANY) > 0,
        "matrix": rng.normal(size=(MANY, 2)),
        "none": np.empty(0),
    }
    lists = {name: array.tolist() for name, array in arrays.items()}
    assert sha256_of_numbers(arrays) == sha256(lists)
    assert sha256_of_numbers([*arrays.values(), {"deep": arrays}]) == sha256([*lists.values(), {"deep": lists}])
    with pytest.raises(ValueError, match="JSON"):
        sha256_of_numbers(np.full(2 * MANY, np.nan))


def test_the_digest_is_that_of_the_canonical_text() -> None:
    rng = np.random.default_rng(0)
    many = rng.normal(size=3 * MANY).tolist()
    data = {
        "b": [{"values": many, "n": [1, 2], "": {}}, {"values": [*many, 1, True, None, "\u00e9"]}],
        "a": [many, [], [many[:2]], ()],
        "\u00fc": {"z": many[0], "y": "text"},
        "rows": [many[k : k + 3] for k in range(0, len(many), 3)],
        "ragged": [many[:3], *([number] for number in many), []],
        "mixed": [[1, 2], 3, [4], [many], [[{"deep": many}]], [True, 1.5, "text"], {"a": many}],
        "splits": [{"column": 1, "in": [*range(2 * MANY)], "children": [[1], -1]}, {"above": 3, "gain": many[0]}],
        "sets": [[*range(2 * MANY)], 3, many[:2]],
        "with a whole number": [[number, 1] for number in many],
    }
    assert sha256_of_numbers(data) == sha256(data)
    assert sha256_of_numbers(many) == sha256(many)
    assert json.loads("[" + floats_text(many) + "]") == json.loads(canonical_json(many))
    other = [*many[:-1], math.nextafter(many[-1], 9.0)]
    assert sha256_of_numbers(other) != sha256_of_numbers(many)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=3)
    | st.lists(FINITE, min_size=MANY, max_size=MANY + 2)
    | st.lists(st.lists(FINITE, min_size=2, max_size=2), min_size=MANY // 2 - 1, max_size=MANY // 2 + 1),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(PLAIN)
@settings(max_examples=200, deadline=None)
def test_the_digest_of_any_plain_data_is_that_of_its_canonical_text(data: Any) -> None:
    assert sha256_of_numbers(data) == sha256(data)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        sha256_of_numbers({"values": [*([0.5] * MANY), wrong]})
    with pytest.raises(ValueError, match="JSON"):
        sha256_of_numbers([[0.5, 0.5]] * MANY + [[0.5, wrong]])
