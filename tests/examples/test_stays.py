"""The made-up hospital is the same on every machine, and teaches what its pages say."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tacit.encoding.table import TableEncoding
from tacit.examples import hospital


def test_the_table_is_the_same_everywhere() -> None:
    columns, labels, _ = hospital(3000)
    text = "\n".join(" ".join(map(str, row)) for row in zip(*columns.values(), labels, strict=True))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "939b9ad46b66967b"


def test_rows_fit_their_schema() -> None:
    columns, labels, schema = hospital(5000)
    assert set(schema.columns) == set(columns)
    assert set(labels.tolist()) == {"yes", "no"}
    encoding = TableEncoding.of(schema, 64)
    assert len(encoding.encoders) == len(columns) - 1  # patient_id is no feature
    for name in ("age", "systolic", "medications", "previous_stays"):
        column, values = schema.columns[name], columns[name]
        assert np.nanmin(values) >= column.lower  # type: ignore[attr-defined]
        assert np.nanmax(values) <= column.upper  # type: ignore[attr-defined]


def test_no_patient_has_more_stays_than_declared() -> None:
    columns, _, schema = hospital(5000)
    assert schema.unit is not None
    assert np.unique(columns["patient_id"], return_counts=True)[1].max() == schema.unit.max_rows == 3


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="stays must be at least 1, got 0"):
        hospital(0)
