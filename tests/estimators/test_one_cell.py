"""What one cell holds changes how that cell is read and no other, nor whether a fit fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.discovery.unknowns import _NumberOrText
from tacit.encoding.inputs import label_vector
from tacit.encoding.numbers import as_numbers
from tacit.encoding.units import key_codes
from tacit.encoding.values import CategoryIndex
from tacit.online.rows import SignRows

SURROGATE = "\ud800"


def not_utf8(kind: pa.DataType) -> pa.ChunkedArray:
    """A column of texts, the last of which is no UTF-8."""
    raw = pa.array([b"1", b"a", None, b"\xff"], pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.chunked_array([pa.Array.from_buffers(kind, len(raw), raw.buffers())])


ODD_COLUMNS: dict[str, Any] = {
    "numpy texts": np.array(["1", "a", "", SURROGATE]),
    "pandas texts": pd.Series(["1", "a", None, SURROGATE], dtype="string[python]"),
    "arrow texts": not_utf8(pa.string()),
    "large arrow texts": not_utf8(pa.large_string()),
    "arrow dictionary": not_utf8(pa.string()).dictionary_encode(),
    "pandas categories": pd.Series(["1", "a", None, b"\xff"]).astype("category"),
    "pandas categories and a number": pd.Series(["1", "a", None, 3.5]).astype("category"),
    "pandas categories and a date": pd.Series(["1", "a", None, pd.Timestamp("2026-01-01")]).astype("category"),
    "masked objects": np.ma.array(["1", "a", "x", SURROGATE], mask=[False, False, True, False], dtype=object),
}


@pytest.mark.parametrize("name", sorted(ODD_COLUMNS))
def test_an_odd_cell_is_read_by_itself_and_so_are_the_others(name: str) -> None:
    column = ODD_COLUMNS[name]
    assert CategoryIndex(("1", "a")).encode(column).tolist() == [0, 1, 3, 2]
    codes, keys = key_codes(column)
    assert [keys[code] for code in codes[:2]] == ["1", "a"]
    assert codes[2] == -1


@pytest.mark.parametrize(
    "name", [name for name in sorted(ODD_COLUMNS) if "categor" not in name and "dictionary" not in name]
)
def test_an_odd_cell_among_numbers_is_missing_and_the_others_are_not(name: str) -> None:
    result = as_numbers(ODD_COLUMNS[name], "x", loose=True)
    assert result[0] == 1
    assert np.isnan(result[1:]).all()


@pytest.mark.parametrize("odd", ["?", None, [1.0], object(), np.array([1.0]), np.datetime64("2026-01-01"), 10**400])
@pytest.mark.parametrize("value", [0.5, 1, True, np.float32(0.5), np.array(0.5)], ids=lambda v: type(v).__name__)
def test_numbers_in_a_list_are_read_one_by_one(value: Any, odd: Any) -> None:
    alone = as_numbers([value] * 5)
    beside = as_numbers([value] * 4 + [odd])
    assert np.array_equal(np.asarray(alone[:4], float), beside[:4])
    assert np.asarray(alone, float).tolist() == [float(value)] * 5


@pytest.mark.parametrize("odd", [b"\xff", 3, None, "x", object()])
def test_bytes_that_spell_numbers_are_asked_one_by_one(odd: Any) -> None:
    encoder = _NumberOrText(spelled=True)
    assert encoder.encode([b"1"] * 5)[:4].tolist() == encoder.encode([b"1"] * 4 + [odd])[:4].tolist() == [0] * 4


@pytest.mark.parametrize("odd", [[1, 1, -1], [True, 1, 1], [0.5, True, True], [None, True, True], [[1], True, True]])
def test_booleans_in_a_list_of_rows_are_signs_whatever_others_are(odd: list[Any]) -> None:
    rows = SignRows(("a", "b", "c"), declared=True)
    table = [[True, True, False]] * 4
    signs, fine = rows.many([*table, odd])
    alone, _ = rows.many(table)
    assert signs[:4].tolist() == alone.tolist() == [[1, 1, -1]] * 4
    assert fine[:4].all()


@pytest.mark.parametrize("odd", [None, 1, [0, 1], [], [None], [[1], [2, 3]], np.array(1), np.array([[1]]), {}])
def test_labels_in_lists_of_one_are_read_one_by_one(odd: Any) -> None:
    assert label_vector([[0], [1], [0], odd])[:3].tolist() == [0, 1, 0]
    assert label_vector([[0], [1], [0], [1]]).tolist() == [0, 1, 0, 1]


def test_no_text_makes_a_fit_fail() -> None:
    schema = {
        "label": {"column": "y", "classes": ["n", "1"]},
        "columns": {
            "c": {"kind": "categorical", "categories": ["1", "a"]},
            "x": {"kind": "numeric", "lower": 0, "upper": 2},
        },
    }
    texts = pa.chunked_array([*not_utf8(pa.string()).chunks * 20])
    table = pa.table({"c": texts, "x": texts})
    with pytest.warns(UserWarning, match="declared numeric and came as texts"):
        model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(table, texts)
    assert np.isfinite(model.predict_proba(table)).all()
