"""`tacit check` looks at rows, complains, and says that its output is not for release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.cli.check import NOT_FOR_RELEASE
from tests.cli.conftest import Run

SCHEMA = """
[label]
column = "y"
classes = ["no", "yes"]
[columns.age]
kind = "numeric"
lower = 17
upper = 90
[columns.work]
kind = "categorical"
categories = ["a", "b"]
[columns.ok]
kind = "boolean"
[columns.id]
kind = "id"
"""

ROWS = """age,work,ok,id,y
25,a,yes,1,no
300,[red]x,maybe,1,no
old,,no,2,no
,a,no,3,
12,z,no,4,huh
"""


@pytest.fixture
def place(folder: Path) -> Path:
    (folder / "s.toml").write_text(SCHEMA)
    (folder / "d.csv").write_text(ROWS)
    return folder


def looked(tacit: Run, *arguments: str) -> dict[str, Any]:
    result = tacit("check", *arguments, "--json", code=0)
    facts: dict[str, Any] = result.json
    assert facts["notice"] == NOT_FOR_RELEASE
    return facts


def test_it_counts_exactly(place: Path, tacit: Run) -> None:
    facts = looked(tacit, "d.csv", "--schema", "s.toml")
    age, work, ok = facts["columns"]
    assert facts["rows"] == 5
    assert (age["missing"], age["clipped_below"], age["clipped_above"], age["unknown"]) == (1, 1, 1, 1)
    assert age["unknown_values"] == [["old", 1]]
    assert (work["missing"], work["unknown"], work["never_seen"]) == (1, 2, ["b"])
    assert work["unknown_values"] == [["[red]x", 1], ["z", 1]]
    assert (ok["missing"], ok["unknown"], ok["unknown_values"]) == (0, 1, [["maybe", 1]])
    assert facts["label"] == {"classes": {"no": 3, "yes": 0}, "dropped": 2, "unknown_values": [["huh", 1]]}
    assert facts["unit"] == {
        "column": "id",
        "units": 4,
        "most_rows": 2,
        "units_above_limit": 1,
        "rows_above_limit": 1,
        "without": 0,
    }
    complaints = "\n".join(facts["complaints"])
    for words in (
        "column 'age': 20.0 % of rows lie below lower = 17",
        "column 'age': 20.0 % of rows lie above upper = 90",
        "column 'age': 20.0 % of rows hold no number and count as missing: 'old'",
        "column 'work': 40.0 % of rows hold values that are not declared and go to 'other'",
        "column 'work': 20.0 % of rows are missing, which the schema does not expect",
        "column 'ok': 20.0 % of rows",
        "label: all rows are of one class",
        "label: 40.0 % of rows have no declared label and are dropped: 'huh'",
        "unit: 1 values of 'id' stand in several rows",
    ):
        assert words in complaints


def test_people_get_a_table_and_the_warning_first(place: Path, tacit: Run) -> None:
    result = tacit("check d.csv --schema s.toml", code=0)
    text = result.words
    assert text.startswith("NOT FOR RELEASE")
    assert "'[red]x' (1)" in text
    assert "40.0 %" in text
    assert "all rows are of one class" in text
    tacit("check d.csv --schema s.toml --strict", code=1)


def test_good_rows_get_no_complaint(place: Path, tacit: Run) -> None:
    (place / "good.csv").write_text("y,id,ok,work,age\nno,1,yes,a,20\nyes,2,no,b,90\n")
    assert looked(tacit, "good.csv", "--schema", "s.toml", "--strict")["complaints"] == []
    result = tacit("check good.csv --schema s.toml")
    assert "no problems beyond the table" in result.stdout
    assert "NOT FOR RELEASE" in result.stdout


def test_units_beyond_their_limit(place: Path, tacit: Run) -> None:
    (place / "u.toml").write_text(
        '[unit]\ncolumn = "id"\nmax_rows = 2\n[columns.age]\nkind = "numeric"\nlower = 0\nupper = 9\n'
    )
    (place / "u.csv").write_text("id,age\n" + "a,1\n" * 5 + "b,2\nb,3\n,4\n")
    facts = looked(tacit, "u.csv", "--schema", "u.toml")
    assert (facts["unit"]["units"], facts["unit"]["units_above_limit"], facts["unit"]["rows_above_limit"]) == (2, 1, 3)
    assert "unit: 1 units have more than 2 rows (up to 5); 3 rows are too many" in facts["complaints"]
    assert "unit: 12.5 % of rows name no unit, and do not count" in facts["complaints"]


def test_numeric_labels_and_empty_tables(place: Path, tacit: Run) -> None:
    (place / "n.toml").write_text(
        '[label]\ncolumn = "y"\nkind = "numeric"\nlower = 0\nupper = 5\n'
        '[columns.age]\nkind = "numeric"\nlower = 0\nupper = 99\n'
    )
    (place / "n.csv").write_text("y,age\n1,2\n9,3\n-1,\n?,\n")
    facts = looked(tacit, "n.csv", "--schema", "n.toml")
    assert (facts["label"]["clipped_below"], facts["label"]["clipped_above"], facts["label"]["dropped"]) == (1, 1, 1)
    (place / "n.csv").write_text("y,age\n?,\n")
    complaints = looked(tacit, "n.csv", "--schema", "n.toml")["complaints"]
    assert "label: no row has a declared label; a fit would return the prior" in complaints
    assert "column 'age': no row holds a declared value" in complaints
    (place / "n.csv").write_text("y,age\n")
    assert looked(tacit, "n.csv", "--schema", "n.toml")["complaints"] == ["there are no rows"]


def test_decimal_commas_are_told_from_other_texts(place: Path, tacit: Run) -> None:
    (place / "s.toml").write_text("[columns.bmi]\nkind = 'numeric'\nlower = 0\nupper = 60\n")
    for cells, commas in (("24,5;1\n30,1;1\n", True), ("24,5,1;1\n", False), ("thin;1\n", False)):
        (place / "d.csv").write_text("bmi;x\n" + cells)
        result = " ".join(tacit("check d.csv --schema s.toml").output.split())
        assert "count as missing" in result
        assert ("give --decimal ," in result) == commas


def test_parquet(place: Path, tacit: Run) -> None:
    table = pa.table(
        {
            "age": [25.0, None, 95.0],
            "work": ["a", "q", None],
            "ok": [True, None, False],
            "id": [1, 1, 2],
            "y": [0, 1, 2],
        }
    )
    pq.write_table(table, place / "d.parquet")
    facts = looked(tacit, "d.parquet", "--schema", "s.toml")
    age, work, ok = facts["columns"]
    assert (age["missing"], age["clipped_above"], work["unknown"], ok["missing"]) == (1, 1, 1, 1)
    assert facts["label"]["classes"] == {"no": 1, "yes": 1}
    assert facts["label"]["dropped"] == 1
    pq.write_table(table.set_column(0, "age", pa.array(["25", "b", "c"])), place / "d.parquet")
    facts = looked(tacit, "d.parquet", "--schema", "s.toml")
    assert facts["columns"][0]["unknown"] == 2  # a fit reads them as missing
    infinite = [-float("inf"), float("inf"), float("nan")]
    pq.write_table(table.set_column(0, "age", pa.array(infinite)).set_column(4, "y", pa.array(infinite)), "i.parquet")
    facts = looked(tacit, "i.parquet", "--schema", "s.toml")
    assert facts["columns"][0]["unknown_values"] == [["-inf", 1], ["inf", 1]]
    assert facts["label"]["unknown_values"] == [["-inf", 1], ["inf", 1]]
    pq.write_table(table.set_column(0, "age", pa.array([[1], [2], [3]])), place / "d.parquet")
    tacit("check d.parquet --schema s.toml", code=2, says="column 'age' is numeric in the schema but has dtype")


def test_cells_with_line_breaks_are_counted(place: Path, tacit: Run) -> None:
    (place / "d.csv").write_text(ROWS + '1,"a\nb\nc",no,1,no\n1,a,no,"\n",no\n')
    tacit("check d.csv --schema s.toml", code=2)
    facts = looked(tacit, "d.csv", "--schema", "s.toml", "--multiline")
    assert (facts["rows"], facts["cells_with_line_breaks"]) == (7, 2)
    assert looked(tacit, "d.csv", "--schema", "s.toml", "--multiline")["columns"][1]["unknown"] == 3


@pytest.mark.parametrize("head", ["# made by x, 2024", "Sales report", "% a\n% b", "// c"])
def test_a_line_above_the_names_is_one_fault(head: str, place: Path, tacit: Run) -> None:
    """And not one for every row, each with more cells than the title has."""
    (place / "d.csv").write_text(f"{head}\n{ROWS}" + "30,a,yes,5,no\n" * 20)
    result = tacit("check d.csv --schema s.toml", code=2, says="no title or comment above it")
    assert "faults" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_with_faults_is_refused_with_all_of_them_and_the_rows_that_have_none(place: Path, tacit: Run) -> None:
    lines = [*ROWS.splitlines(), *["30,a,yes,5,no"] * 20]
    lines[8], lines[12] = '30,"a,yes,5,no', "30,a,yes,5,no,more"
    (place / "d.csv").write_text("\n".join(lines) + "\n")
    result = tacit("check d.csv --schema s.toml", code=2)
    assert result.stdout.startswith(NOT_FOR_RELEASE)
    assert "d.csv: 23 rows could be read, and a fit refuses it" in result.stdout
    assert "2 faults: a quoted cell without its closing quote in line 9" in result.stderr
    assert "(line 13)" in result.stderr
    assert "could be read" not in tacit("check d.csv --schema s.toml --json").stdout
    (place / "d.csv").write_text("other\n1\n")
    assert tacit("check d.csv --schema s.toml").stdout == ""


def test_values_that_look_like_declared_ones_are_told_from_them(place: Path, tacit: Run) -> None:
    (place / "s.toml").write_text(
        '[label]\ncolumn = "y"\nclasses = ["né", "yes"]\n'
        '[columns.work]\nkind = "categorical"\ncategories = ["Köln", "b"]\n'
    )
    (place / "d.csv").write_text("work,y\nKo\u0308ln,ne\u0301\nB,YES\nb\u200b,yes\nKöln,né\n", "utf-8")
    complaints = " ".join(looked(tacit, "d.csv", "--schema", "s.toml")["complaints"])
    for words in (
        "differs only in Unicode form (composed or decomposed) from 'Köln'",
        "column 'work': 'B' differs only in case from 'b'",
        "differs only in invisible characters or blanks from 'b'",
        "label: 'YES' differs only in case from 'yes'",
        "from 'né'",
    ):
        assert words in complaints


def test_narrow_and_binary_columns_are_counted_as_a_fit_reads_them(place: Path, tacit: Run) -> None:
    (place / "s.toml").write_text(
        '[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n'
        '[columns.dose]\nkind = "categorical"\ncategories = [0.1, 0.2]\n'
        '[columns.half]\nkind = "categorical"\ncategories = [0.1]\n'
    )
    narrow = pa.array([0.1, 0.2, 0.3, None], pa.float32())
    columns = {"dose": narrow, "half": narrow.cast(pa.float16()), "y": pa.array([b"no", b"yes", b"yes", b"\xff"])}
    pq.write_table(pa.table(columns), place / "d.parquet")
    facts = looked(tacit, "d.parquet", "--schema", "s.toml")
    dose, half = facts["columns"]
    assert (dose["missing"], dose["unknown"], dose["unknown_values"]) == (1, 1, [[0.3, 1]])
    assert (half["missing"], half["unknown"]) == (1, 2)
    assert facts["label"] == {"classes": {"no": 1, "yes": 2}, "dropped": 1, "unknown_values": [["\ufffd", 1]]}


def test_long_values_are_cut_and_unseen_characters_are_named(place: Path, tacit: Run) -> None:
    schema = '[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\nkind = "categorical"\ncategories = ["u"]\n'
    Path("long.toml").write_text(schema)
    Path("long.csv").write_text(f"a,y\n{'v' * 100_000},no\nu,{'w' * 100_000}\n")
    facts = looked(tacit, "long.csv", "--schema", "long.toml")
    cut = [facts["columns"][0]["unknown_values"][0][0], facts["label"]["unknown_values"][0][0]]
    assert cut == ["v" * 99 + "\u2026", "w" * 99 + "\u2026"]
    assert max(map(len, facts["complaints"])) < 400
    unseen = {"\ufeff": "two byte order marks (U+FEFF)", "\u200b": "(U+200B) in the name of the column 'a'"}
    for character, words in unseen.items():
        Path("bom.csv").write_text(f"\ufeff{character}a,y\nu,no\n")
        tacit("check bom.csv --schema long.toml", code=2, says=words)


def test_times_beyond_the_calendar_are_counted_as_a_fit_reads_them(place: Path, tacit: Run) -> None:
    (place / "s.toml").write_text(
        '[columns.d]\nkind = "date"\ngranularity = "month"\nlower = 2000-01-01\nupper = 2020-12-31\n'
    )
    far = [2**60, -(2**60), 1_000_000_000_000, None]
    kinds = [pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ms", "Europe/Rome")]
    for kind, scale in zip(kinds, (1, 1000, 1), strict=True):
        values = [None if value is None else max(min(value * scale, 2**62), -(2**62)) for value in far]
        pq.write_table(pa.table({"d": pa.array(values, pa.int64()).view(kind)}), place / "d.parquet")
        [found] = looked(tacit, "d.parquet", "--schema", "s.toml")["columns"]
        counts = (found["missing"], found["clipped_below"], found["clipped_above"], found["unknown"])
        assert counts == (1, 1, 1, 0), kind


@pytest.mark.parametrize(
    ("categories", "words"),
    [
        (["a", "a\u200b"], r"are 'a' and 'a\u200b' one value? Then write them the same way"),
        (["\u00e9", "e\u0301"], r"are '\xe9' and 'e\u0301' one value?"),
        (["Male", "male"], "are 'Male' and 'male' one value?"),
        (["M\u00c3\u00bcnchen", "Bonn"], "mean 'M\u00fcnchen'?"),
        (["a", "b"], ""),
    ],
)
def test_declared_values_that_look_alike_are_told(place: Path, tacit: Run, categories: list[str], words: str) -> None:
    (place / "s.toml").write_text(SCHEMA.replace('["a", "b"]', json.dumps(categories)), encoding="utf-8")
    complaints = looked(tacit, "d.csv", "--schema", "s.toml")["complaints"]
    assert any(words in each for each in complaints if "column 'work'" in each) or not words
    assert any("one value?" in each or " mean " in each for each in complaints) is bool(words)


def test_what_a_fit_refuses_is_told(place: Path, tacit: Run) -> None:
    (place / "s.toml").write_text(SCHEMA.replace('kind = "id"', 'kind = "numeric"\nlower = 0\nupper = 9'))
    (complaint,) = [c for c in looked(tacit, "d.csv", "--schema", "s.toml")["complaints"] if "a fit refuses" in c]
    assert "column 'id': looks like an identifier (its name)" in complaint
