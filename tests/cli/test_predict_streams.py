"""Predictions for more rows than fit: chunk by chunk, in the order of the rows, whatever the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import parquet

from tacit.cli import predict
from tacit.encoding import read, sources
from tests.cli.conftest import Run


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Chunks of few rows, and how many rows were ever held at once."""
    held: list[int] = []
    monkeypatch.setattr(sources, "CHUNK_ROWS", 37)
    monkeypatch.setattr(read, "BLOCK_BYTES", 1000)
    known = predict.predicted

    def watched(model: Any, frame: Any, *rest: Any) -> Any:
        held.append(frame.n_rows)
        return known(model, frame, *rest)

    monkeypatch.setattr(predict, "predicted", watched)
    return held


def whole(fitted: Path, folder: Path, tacit: Run) -> pa.Table:
    tacit("predict", fitted / "model.json", "data.csv", "-o", "whole.parquet", "--keep", "id", code=0)
    table = parquet.read_table("whole.parquet")
    return table.set_column(0, "id", table["id"].cast(pa.string()))


def test_files_of_a_folder_follow_one_another(fitted: Path, folder: Path, tacit: Run, small_chunks: list[int]) -> None:
    expected = whole(fitted, folder, tacit)
    assert len(small_chunks) > 5
    frame = pd.read_csv("data.csv", dtype="string")  # typed where a part has no rows, by pandas 2 as well
    assert Path("whole.parquet").stat().st_mode & 0o777 == 0o600  # rows are in it
    Path("parts").mkdir()
    Path("csv").mkdir()
    for number, (start, stop) in enumerate([(0, 150), (150, 150), (150, 151), (151, 400)]):
        part = frame.iloc[start:stop]
        part.to_csv(f"csv/{number}.csv", index=False)
        part.assign(age=pd.to_numeric(part["age"]).astype(float)).to_parquet(f"parts/{number}.parquet", index=False)
    for data in ("parts", "csv", "csv/*.csv", "parts/*.parquet"):
        small_chunks.clear()
        tacit("predict", fitted / "model.json", data, "--out", "p.parquet", "--force", "--keep", "id", code=0)
        result = parquet.read_table("p.parquet")
        assert result.set_column(0, "id", result["id"].cast(pa.string())).equals(expected)
        assert max(small_chunks) < 100
        assert sum(small_chunks) == 400
    tacit("predict", fitted / "model.json", "csv", "-o", "p.csv", "--keep", "id", code=0)
    kinds = pa_csv.ConvertOptions(column_types={"id": pa.string(), "prediction": pa.string()})
    result = pa_csv.read_csv("p.csv", convert_options=kinds)
    assert result["id"].to_pylist() == expected["id"].to_pylist()
    assert result["prediction"].to_pylist() == expected["prediction"].to_pylist()


def test_a_data_base_is_predicted(fitted: Path, folder: Path, tacit: Run) -> None:
    import sqlite3

    expected = whole(fitted, folder, tacit)
    with sqlite3.connect("rows.db") as base:
        frame = pd.read_csv("data.csv")
        frame.to_sql("people", base, index=False)
    query = "SELECT age, colour, id FROM people ORDER BY id"
    tacit("predict", fitted / "model.json", "sqlite:///rows.db", "--query", query, "-o", "p.parquet", code=0)
    assert parquet.read_table("p.parquet").equals(expected.drop_columns("id"))


def test_no_rows_are_no_predictions(fitted: Path, folder: Path, tacit: Run) -> None:
    Path("none.csv").write_text("age,colour,id\n")
    tacit("predict", fitted / "model.json", "none.csv", "-o", "p.parquet", "--keep", "id", code=0)
    table = parquet.read_table("p.parquet")
    assert (table.num_rows, table.column_names) == (0, ["id", "prediction", "proba_no", "proba_yes"])


def test_a_file_that_breaks_off_leaves_nothing_behind(
    fitted: Path, folder: Path, tacit: Run, small_chunks: list[int]
) -> None:
    text = Path("data.csv").read_text()
    Path("data.csv").write_text(text + "1,2,3,4,5,6,7\n")
    tacit("predict", fitted / "model.json", "data.csv", "-o", "p.parquet", code=2, says="has a row with 7 cells")
    assert not Path("p.parquet").exists()


def test_models_made_of_models_tell_which_columns_are_numbers() -> None:
    """A rule, a function of rules, and a curve over either: columns of any part are read as that part takes them."""
    from tacit.cli.tables import columns_for
    from tacit.closure import ComposedClassifier, Thresholds
    from tacit.models.recalibrated import RecalibratedModel

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(0, 9, 300), "size": rng.uniform(0, 9, 300)})
    columns = {name: {"kind": "numeric", "lower": 0, "upper": 9, "bins": 8} for name in frame}
    schema = {"label": {"column": "y", "classes": [0, 1], "positive": 1}, "columns": columns}
    learner = ComposedClassifier([Thresholds("age"), Thresholds("size")], "or", epsilon=9.0, schema=schema)
    composed = learner.fit(frame, (frame.age > 6).astype(int)).model_
    curve = RecalibratedModel(composed, np.array([0.0]), np.array([0.1]))
    for model, names in ((composed.members[0], ["age"]), (composed, ["age", "size"]), (curve, ["age", "size"])):
        assert columns_for(model) == (names, frozenset(names))


@pytest.mark.parametrize("name", ["p.xlsx", "p.json", "p.csv.gz", "p.DuckDB"])
def test_a_name_that_promises_another_format_is_refused(fitted: Path, folder: Path, tacit: Run, name: str) -> None:
    """CSV was written under names of spreadsheets, which no spreadsheet opens."""
    tacit(
        "predict",
        fitted / "model.json",
        "data.csv",
        "-o",
        name,
        code=2,
        says=f"--output: {name} would not be what its name says",
    )
    assert not Path(name).exists()


def test_a_kept_column_may_have_no_value_in_the_first_part(fitted: Path, folder: Path, tacit: Run) -> None:
    Path("parts").mkdir()
    rows = pd.read_csv("data.csv", dtype=str, nrows=40)
    whole = rows.assign(age=pd.to_numeric(rows["age"]).astype(float), note=["none yet"] * 20 + ["seen"] * 20)
    for number, part in enumerate((whole[:20].assign(note=None).astype({"note": object}), whole[20:])):
        part.to_parquet(f"parts/{number}.parquet", index=False)
    assert parquet.read_schema("parts/0.parquet").field("note").type == pa.null()
    tacit("predict", fitted / "model.json", "parts", "-o", "p.parquet", "--keep", "note", code=0)
    assert parquet.read_table("p.parquet")["note"].to_pylist() == [None] * 20 + ["seen"] * 20


def test_rows_that_the_model_does_not_know_are_counted_on_standard_error(
    fitted: Path, folder: Path, tacit: Run, small_chunks: list[int]
) -> None:
    names = Path("data.csv").read_text().partition("\n")[0].split(",")
    values = {"age": "1970", "colour": "RED"}
    lines = [",".join(values.get(name, "1") for name in names)] * 90
    lines += [",".join({"age": "1,970", "colour": "red"}.get(name, "1").replace(",", ".9.") for name in names)] * 110
    Path("new.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    result = tacit("predict", fitted / "model.json", "new.csv", "-o", "p.csv", code=0)
    for words in (
        "note: column 'age': 110 of 200 rows are empty or cannot be read, and count as missing",
        "note: column 'age': 90 of 200 rows lie outside the declared bounds, and are clipped",
        "90 of 200 rows hold values that are not declared, and go to 'other'; one differs only in case from 'red'",
    ):
        assert words in result.words
    said = tacit("predict", fitted / "model.json", "data.csv", "-o", "q.csv").stderr
    assert said == "note: column 'colour': 133 of 400 rows hold values that are not declared, and go to 'other'\n"
    made = tacit("predict", fitted / "model.json", "new.csv", "-o", "p.csv", "--json", "--force")
    assert len(made.json["notes"]) == 3
