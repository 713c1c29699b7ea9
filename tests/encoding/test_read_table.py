"""`read_table`: the rows of a file, each read by itself, in Python as on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.cli.tables import training_table
from tacit.discovery.discover_schema import UNTYPED, label_kind
from tacit.encoding.errors import DataError
from tacit.encoding.frames import columns_of
from tacit.encoding.table import TableEncoding
from tacit.privacy.label import Stage
from tacit.schema import CategoricalColumn, Label, NumericColumn, Schema, Unit

SCHEMA = Schema(
    {"ward": CategoricalColumn(("1", "2", "NA")), "age": NumericColumn(0, 100), "note": CategoricalColumn(("é", "b"))},
    Label("y", classes=("no", "yes")),
    Unit("who", 2),
)
ROWS = """who,age,y,ward,note,more
7,25,yes,1,é,x
8, 1e1 ,no,2.0,b,
9,old,maybe,NA,,
,,,,,
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS, "utf-8")
    return file


def tell(text: str) -> None:
    del text


def codes(table: Any) -> list[list[int]]:
    return [column.tolist() for column in TableEncoding.of(SCHEMA).encode(table)]


def test_it_reads_what_the_command_line_reads(path: Path, tmp_path: Path) -> None:
    SCHEMA.to_toml(tmp_path / "schema.toml")
    frame, labels = training_table(path, "y", SCHEMA, tell)
    for schema in (SCHEMA, SCHEMA.to_dict(), tmp_path / "schema.toml", str(tmp_path / "schema.toml")):
        table = tacit.read_table(path, schema)
        assert table.column_names == ["ward", "age", "note", "y", "who"]
        assert codes(table) == codes(frame) == codes(table.to_pandas())
        assert codes(table)[0] == [0, 1, 2, 4]
        assert table["y"].to_pylist() == labels.to_pylist() == ["yes", "no", "maybe", ""]
        assert not columns_of(table).untyped


def test_without_a_schema_nothing_has_a_type(path: Path) -> None:
    frame, labels = training_table(path, "y", None, tell, numbers=False)
    table = tacit.read_table(path)
    for part in (table, table.drop_columns("y"), table.select(["age"]), table.slice(1, 2)):
        assert columns_of(part).untyped
    assert columns_of(table.drop_columns("y")).names == frame.names
    assert table["age"].to_pylist() == frame.column("age").to_pylist() == ["25", " 1e1 ", "old", ""]
    assert label_kind(table["y"], columns_of(table)) == label_kind(labels, frame) == UNTYPED
    assert tacit.read_table(path, columns=["y", "age"]).column_names == ["y", "age"]


def test_label_and_unit_are_read_where_they_are(tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("ward,age,note\n1,2,b\n")
    assert tacit.read_table(new, SCHEMA).column_names == ["ward", "age", "note"]
    with pytest.raises(DataError, match="no column 'weight'"):
        tacit.read_table(new, Schema({"weight": NumericColumn(0, 1)}))


@pytest.mark.parametrize(
    "encoding", ["latin-1", "windows-1252", "ISO-8859-15", "utf-16", "utf-16-le", "utf-32", "utf-32-be"]
)
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(ROWS.replace("more", "größe").encode(encoding))
    assert codes(tacit.read_table(file, SCHEMA, encoding=encoding))[2] == [0, 1, 3, 3]
    assert "größe" in tacit.read_table(file, encoding=encoding).column_names


def test_mistakes_about_encodings(tmp_path: Path, path: Path) -> None:
    assert codes(tacit.read_table(path, SCHEMA, encoding="UTF8")) == codes(tacit.read_table(path, SCHEMA))
    file = tmp_path / "rows.csv"
    file.write_bytes(b"a,b\n1,\x81\n")
    with pytest.raises(DataError, match=r"is not cp1252 text; save it as UTF-8\. Nothing was spent"):
        tacit.read_table(file, encoding="windows-1252")


def test_parquet_keeps_its_types(path: Path, tmp_path: Path) -> None:
    table = tacit.read_table(path, SCHEMA)
    file = tmp_path / "rows.parquet"
    pq.write_table(table, file)
    assert codes(tacit.read_table(file, SCHEMA)) == codes(table)
    assert not columns_of(tacit.read_table(file)).untyped


@pytest.mark.usefixtures("few_trees")
def test_the_attack_moves_no_other_row(tmp_path: Path) -> None:
    """Declared texts, cells 1.0 and 2.0: a row of the ward `unknown` made all cells texts, and moved every effect."""
    rows = "ward,age,note,y\n" + "1.0,20,b,yes\n2.0,30,b,no\n" * 500
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_text(rows)
    after.write_text(rows + "unknown,30,b,no\n")
    schema = Schema({name: SCHEMA.columns[name] for name in SCHEMA.features}, SCHEMA.label)
    effects = []
    for file in (before, after):
        for table in (pd.read_csv(file), tacit.read_table(file, schema), tacit.read_table(file, schema).to_pandas()):
            y = table["y"]
            model = tacit.AdditiveBoostClassifier(epsilon=np.inf, schema=schema).fit(table, y)
            first = model.predict_proba(table.head(2) if hasattr(table, "head") else table.slice(0, 2))[:, 1]
            effects.append(first[0] - first[1])
    assert min(effects) > 0.5
    assert max(effects) - min(effects) < 0.01


def test_a_fit_without_a_schema_asks_what_cells_stand_for(tmp_path: Path) -> None:
    """One text or gap changed the charges and entries of the certificate with certainty.

    Charges of later sweeps follow from what was released, so only what they are for is compared.
    """
    rows = "ward,age,y\n" + "1,20,1\n2,30,0\n" * 300
    kinds = []
    for odd in ("", "1,,0\n", "unknown,30,1\n", "1,30,2.5\n"):
        file = tmp_path / "rows.csv"
        file.write_text(rows + odd)
        table = tacit.read_table(file)
        fitted = tacit.AdditiveBoostClassifier(epsilon=1.0, random_state=0).fit(table.drop_columns("y"), table["y"])
        kinds.append(
            [
                (entry.label, "" if entry.stage is Stage.JOINT_SWEEP else str(entry.charge))
                for entry in fitted.certificate_.entries
            ]
        )
    assert kinds[0] == kinds[1] == kinds[2] == kinds[3]
