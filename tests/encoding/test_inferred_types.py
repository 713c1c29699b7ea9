"""Readers that make types from rows: whatever type a column came with, every cell is read by itself.

`pandas.read_csv` makes numbers or truth values of a column, unless one cell of it is neither: then all are texts, and
an empty one makes floats of integers. With a declared schema none of this may change a code.
"""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import key_codes
from tacit.encoding.values import LabelIndex
from tacit.schema import BooleanColumn, CategoricalColumn, NumericColumn, OrdinalColumn, Schema
from tacit.schema.values import meaning

SCHEMA = Schema(
    {
        "texts": CategoricalColumn(("1", "2", "007", "1.10", "1e3", "+5", "b")),
        "numbers": CategoricalColumn((1, 2, 7, 1.1, 1000, 0.0, 9007199254740990, 10**15)),
        "truths": CategoricalColumn((True, False, "x")),
        "words": CategoricalColumn(("True", "FALSE", "inf", "a b")),
        "bits": OrdinalColumn((0, 1)),
        "boolean": BooleanColumn(),
        "number": NumericColumn(0, 1000),
        "log": NumericColumn(0.5, 2**60, spacing="log"),
    }
)
ENCODING = TableEncoding.of(SCHEMA)
LABELS = {
    "texts": LabelIndex(("1", "2", "007")),
    "numbers": LabelIndex((1, 2)),
    "truths": LabelIndex((False, True)),
    "words": LabelIndex(("no", "yes")),
}

NASTY_WORDS = """
    1 2 1.0 2.0 +1 -1 01 007 7 7.0 1.10 1.1 1e3 1000 1E+3 0 -0 0.0 .5 5. 1e400 -1e400 1e-400 inf -Infinity +INF nan
    NaN     True TRUE true tRue False false T yes no y t 9007199254740992 9007199254740993 9223372036854775807
    9223372036854775808
    18446744073709551615 18446744073709551616 1000000000000000000 1000000000000000001 1,5 1_0 0x1 1j 1e 1e+ - +
    . -- +-1 unknown b x inf3 NA N/A null None #N/A -nan <NA> 1.7976931348623159e308 5e-324 1e22 1e23
    123456.789 0.1 0.3
"""
NASTY = st.sampled_from(NASTY_WORDS.split()) | st.sampled_from(
    ["", " ", " 1", "1 ", " 1.0", "\t2", "a b", " True", "1 2", "\u00a01", "１", "0" * 5000, "9" * 400]
)
PLAIN = st.decimals(-2000, 2000, places=2).map(str) | st.integers(-3, 2**70).map(str)
CELLS = NASTY | PLAIN


NOT_AVAILABLE = {"nan", "NaN", "NA", "N/A", "null", "None", "#N/A", "-nan", "<NA>"}


def pandas_reads_gaps(cells: list[str]) -> bool:
    """Where a column holds integers of 2^63 and more, pandas leaves gaps spelled in letters as texts, and reads 1_0."""
    odd = NOT_AVAILABLE & set(cells) or any("_" in cell for cell in cells)
    return not (odd and any(meaning(cell) >= ("number", 2.0**63) for cell in cells if meaning(cell).kind == "number"))


def written(cells: list[str]) -> str:
    """A file of one column, and another so that no line is empty."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows([["c", "z"], *([cell, "-"] for cell in cells)])
    return file.getvalue()


def inferred(cells: list[str], **options: Any) -> Any:
    """The column as pandas reads it."""
    return pd.read_csv(io.StringIO(written(cells)), **options)["c"]


def all_codes(column: Any) -> dict[str, list[Any]]:
    """What the column becomes under every declaration."""
    table = dict.fromkeys(SCHEMA.features, column)
    codes = dict(zip(SCHEMA.features, ENCODING.encode(table, threads=1), strict=True))
    labels = {f"label {name}": index.encode(column) for name, index in LABELS.items()}
    target = NumericLabelIndex(0, 1000).encode(np.asarray(as_numbers(column, loose=True), float))
    keyed, keys = key_codes(column)
    results = {name: vector.tolist() for name, vector in {**codes, **labels, "target": target}.items()}
    return results | {"keys": [keys[code] if code >= 0 else None for code in keyed]}


@cache
def alone_codes(cell: str) -> dict[str, list[Any]]:
    """The same for a file of one row."""
    return all_codes(inferred([cell]))


@settings(max_examples=80, deadline=None)
@given(cells=st.lists(CELLS, min_size=1, max_size=6))
@example(cells=["1", "2", "unknown"])
@example(cells=["007", "1", ""])
@example(cells=["True", "False"])
@example(cells=["9007199254740993", "1.5"])
@example(cells=["18446744073709551616", "1"])
@example(cells=["9" * 400, "1_0"])
def test_types_made_from_rows_change_no_code(cells: list[str]) -> None:
    assume(pandas_reads_gaps(cells))
    read = all_codes(inferred(cells))
    assert read == all_codes(inferred(cells, dtype=str))
    alone = [alone_codes(cell) for cell in cells]
    assert read == {name: [one[name][0] for one in alone] for name in read}


@settings(max_examples=50, deadline=None)
@given(cells=st.lists(CELLS, min_size=1, max_size=6), odd=CELLS)
def test_one_row_more_changes_no_other(cells: list[str], odd: str) -> None:
    assume(pandas_reads_gaps([*cells, odd]))
    without, beside = all_codes(inferred(cells)), all_codes(inferred([*cells, odd]))
    assert without == {name: codes[:-1] for name, codes in beside.items()}


@pytest.mark.parametrize("odd", ["unknown", "", "1.5", "True", "18446744073709551616"])
def test_the_attack_on_declared_texts_moves_nobody(odd: str) -> None:
    cells = ["1.0", "2.0"] * 20
    index = CategoricalColumn(("1", "2"))
    encoding = TableEncoding.of(Schema({"ward": index}))
    [before] = encoding.encode({"ward": inferred([*cells, "1.0"])})
    [after] = encoding.encode({"ward": inferred([*cells, odd])})
    assert before[:-1].tolist() == after[:-1].tolist() == [0, 1] * 20
