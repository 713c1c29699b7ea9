"""CSV files as spreadsheets write them: decimal commas, semicolons, other encodings, wherever one is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

import tacit as library
from tacit.encoding.errors import DataError
from tacit.schema import CategoricalColumn, NumericColumn, Schema
from tests.cli.conftest import Run

SCHEMA = """
[label]
column = "bought"
kind = "classes"
classes = ["no", "yes"]
positive = "yes"

[columns.height]
kind = "numeric"
lower = 1.2
upper = 2.2

[columns.dose]
kind = "ordinal"
categories = [0.5, 1, 1.5]
"""
COMMAS = ("--decimal", ",")


def rows(point: str, mark: str) -> str:
    lines = [mark.join(("height", "dose", "bought"))]
    for i in range(300):
        height = ("", "1.234.5", f"{1.3 + (i * 7) % 80 / 100:.2f}")[min(i, 2)]
        lines.append(mark.join((height, ("0.5", "1", "1.5")[i % 3], "yes" if (i * 7) % 80 > 40 else "no")))
    return "\n".join(lines).replace(".", point) + "\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(SCHEMA)
    Path("plain.csv").write_text(rows(".", ","))
    Path("excel.csv").write_text(rows(",", ";"))
    return tmp_path


def test_a_table_with_commas_is_the_table_with_points(place: Path) -> None:
    plain = library.read_table("plain.csv", "schema.toml")
    assert repr(library.read_table("excel.csv", "schema.toml", decimal=",").to_pydict()) == repr(plain.to_pydict())
    assert repr(library.read_table("excel.csv", "schema.toml", decimal=".").to_pydict()) != repr(plain.to_pydict())
    source = library.read_source("excel.csv", decimal=",", delimiter=";")
    [chunk] = source.reader.chunks(["height", "dose"], frozenset(["height"]))
    assert chunk.column("height")[2:].tolist() == plain["height"].to_pylist()[2:]
    assert chunk.column("dose").to_pylist() == plain["dose"].to_pylist()


def test_a_point_spells_no_number_where_numbers_have_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1.234;1.234\n1,5;1,5\n ,5 ;x,5\n-2,5e3;31.12.2024\n7;5,\n")
    schema = Schema({"a": NumericColumn(-9, 9), "b": CategoricalColumn(("1.234", "1.5"))})
    table = library.read_table(tmp_path / "t.csv", schema, decimal=",")
    assert str(table["a"].to_pylist()) == "[nan, 1.5, 0.5, -2500.0, 7.0]"
    assert table["b"].to_pylist() == ["1.234", "1.5", "x,5", "31.12.2024", "5,"]


def test_the_delimiter_may_be_said(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a|b,c\n1|2\n")
    assert library.read_table(file, delimiter="|").column_names == ["a", "b,c"]
    file.write_text("a\tb;c;d\n1\t2\n")
    for tab in ("tab", "\t", "\\t"):
        assert library.read_table(file, delimiter=tab).column_names == ["a", "b;c;d"]
    file.write_text("a\n1,5\n2\n")  # a header without a mark: a comma cannot part numbers that have one
    assert library.read_table(file, {"columns": {"a": {"kind": "numeric", "lower": 0, "upper": 9}}}, decimal=",")[
        "a"
    ].to_pylist() == [1.5, 2.0]
    for wrong, said in (
        ({"delimiter": ";;"}, "one character such as ';', or 'tab'"),
        ({"decimal": ";"}, r"'\.' or ','"),
    ):
        with pytest.raises(DataError, match=said + ".*Nothing was spent"):
            library.read_table(file, **wrong)


def test_every_command_reads_decimal_commas(place: Path, tacit: Run) -> None:
    """Model, predictions, score and schema are those of the same table with points and commas."""
    made: dict[str, list[Any]] = {}
    for data, how in (("plain.csv", ()), ("excel.csv", (*COMMAS, "--delimiter", ";"))):
        seeded = ("--schema", "schema.toml", "--random-state", "1", *how)
        fit = ("fit", data, *seeded, "--interactions", "false", "--model", "m.json", "--force", "--json")
        tacit(*fit, code=0)
        tacit(*fit, "--dry-run", code=0)
        tacit("predict m.json", data, "-o", "p.csv", "--force", *how, code=0)
        scored = tacit("evaluate m.json", data, "--epsilon", "1", "--random-state", "1", "--json", *how)
        discover = f"schema discover {data} --target bought --epsilon 50 -o found.toml --random-state 1 --force"
        result = tacit(discover, *how)
        assert (scored.exit_code, result.exit_code) == (0, 0), scored.output + result.output
        drafted = tacit("schema init", data, "--target", "bought", "-o", "drafted.toml", "--force", "--json", *how)
        checked = tacit("check", data, "--schema", "schema.toml", "--json", *how)
        assert (drafted.exit_code, checked.exit_code) == (0, 0)
        made[data] = [
            json.loads(Path("m.json").read_text())["model"],
            predictions("p.csv", *(";", ",") if how else ()),
            scored.json,
            Schema.from_toml("found.toml").to_dict(),
            drafted.json["fingerprint"],
            [{k: v for k, v in column.items() if k != "unknown_values"} for column in checked.json["columns"]],
        ]
    for place_, (one, other) in enumerate(zip(made["plain.csv"], made["excel.csv"], strict=True)):
        assert one == other, place_


def predictions(path: str, mark: str = ",", point: str = ".") -> dict[str, list[Any]]:
    options = pa_csv.ParseOptions(delimiter=mark), pa_csv.ConvertOptions(decimal_point=point)
    table = pa_csv.read_csv(path, parse_options=options[0], convert_options=options[1])
    assert [str(kind) for kind in table.schema.types] == ["string", "double", "double"]
    return dict(table.to_pydict())


def test_semicolons_are_not_read_before_somebody_says_what_numbers_have(place: Path, tacit: Run) -> None:
    """Refused before anything is charged, for the header's sake alone: whatever rows hold, and where there are none."""
    account = library.PrivacyAccount.create("b.db", "d", epsilon=3.0, delta=1e-5)
    paid = ("--epsilon", "1", "--account", "sqlite:///b.db", "--dataset", "d")
    for text in (rows(",", ";"), rows(".", ";"), "height;dose;bought\n", "height;dose;bought"):
        Path("excel.csv").write_text(text)
        for command in (
            ("fit", "excel.csv", "--schema", "schema.toml", "--model", "m.json", *paid),
            ("fit", "excel.csv", "--target", "bought", "--model", "m.json", *paid),
            ("fit", "excel.csv", "--schema", "schema.toml", "--model", "m.json", "--dry-run"),
            ("fit", "excel.csv", "--schema", "schema.toml", "--engine", "streamed", "--model", "m.json", *paid),
            ("schema", "discover", "excel.csv", "--target", "bought", "-o", "found.toml", *paid),
        ):
            tacit(*command, code=2, says="--decimal. Nothing was spent")
    assert account.spent == 0
    folder = Path("parts")
    folder.mkdir()
    (folder / "1.csv").write_text(rows(".", ","))
    (folder / "2.csv").write_text(rows(".", ";"))
    for source in ("excel.csv", "parts"):
        tacit(
            "check",
            source,
            "--schema",
            "schema.toml",
            "--strict",
            code=1,
            says="nobody said what these have: give decimal",
        )
    assert "nobody said" not in tacit("check parts --schema schema.toml --decimal .").output
    fit = ("fit", "excel.csv", "--schema", "schema.toml", "--interactions", "false", "--model", "m.json")
    Path("excel.csv").write_text(rows(".", ";"))
    tacit(*fit, "--decimal", ".", code=0)
    tacit("predict m.json excel.csv -o p.csv", code=2)
    tacit("predict m.json excel.csv -o p.csv --force --decimal .", code=0)
    assert predictions("p.csv")["prediction"]
    Path("excel.csv").write_text(rows(",", "|"))  # nothing in the header tells
    tacit(*fit, "--force", "--delimiter", "|", code=0)


def test_texts_alone_need_no_word_on_decimals(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\nx;1,5\n")
    assert library.read_table(tmp_path / "t.csv")["b"].to_pylist() == ["1,5"]
    words = Schema({"a": CategoricalColumn(("x", "y"))})
    assert library.read_table(tmp_path / "t.csv", words)["a"].to_pylist() == ["x"]
    with pytest.raises(DataError, match=r"decimal ',' \(24,5\) or '\.' \(24\.5\).*Nothing was spent"):
        library.read_table(tmp_path / "t.csv", Schema({"b": NumericColumn(0, 9)}))


def test_folders_and_dictionaries_are_read_so_too(place: Path, tacit: Run) -> None:
    Path("many").mkdir()
    Path("many/a.csv").write_text(rows(",", ";"))
    fit = ("fit", "many", "--schema", "schema.toml", "--interactions", "false", "--random-state", "1", "--model")
    tacit(*fit, "folder.json", *COMMAS, code=0)
    tacit("fit plain.csv", *fit[2:], "plain.json", code=0)
    bodies = [json.loads(Path(name).read_text())["model"] for name in ("folder.json", "plain.json")]
    assert bodies[0] == bodies[1]
    tacit("predict plain.json many -o p.csv", *COMMAS, code=0)
    tacit("predict plain.json plain.csv -o q.csv", code=0)
    assert predictions("p.csv", ";", ",") == predictions("q.csv")
    Path("words.csv").write_text("name;kind;lower;upper;categories\nheight;numeric;1,2;2,2;\nbought;;;;no|yes\n")
    init = ("schema", "init", "--dictionary", "words.csv", "--target", "bought", "-o", "new.toml")
    tacit(*init, code=2)
    tacit(*init, *COMMAS, code=0)
    assert Schema.from_toml("new.toml").columns["height"] == NumericColumn(1.2, 2.2)


def test_what_is_said_after_a_fit_can_be_run(place: Path, tacit: Run) -> None:
    """The hint at ``tacit check`` names the options with which the fit read the file."""
    Path("excel.csv").write_text(rows(",", ";").replace("1,", "x"), "utf-16")
    how = ("--encoding", "utf-16", *COMMAS)
    result = tacit("fit excel.csv --schema schema.toml --model m.json", *how)
    assert "tacit check excel.csv --schema schema.toml --encoding utf-16 --decimal , may" in " ".join(
        result.stdout.split()
    )


def test_utf16_without_its_mark_is_told_which_encoding_it_has(place: Path, tacit: Run) -> None:
    Path("wide.csv").write_text(rows(".", ","), "utf-16-le")
    for given, meant in (("utf-8", "--encoding utf-16-le"), ("utf-16", "--encoding utf-16-le")):
        result = tacit("check wide.csv --schema schema.toml --encoding", given)
        assert (result.exit_code, f"{meant}" in result.stderr, "byte order mark" in result.stderr) == (2, True, True), (
            result
        )
    tacit("check wide.csv --schema schema.toml --encoding utf-16-le", code=0)


def test_check_says_what_to_do_about_commas_and_dates(place: Path, tacit: Run) -> None:
    text = " ".join(tacit("check excel.csv --schema schema.toml").stdout.split())
    assert "give --decimal , where numbers have a decimal comma" in text
    text = " ".join(tacit("check excel.csv --schema schema.toml", *COMMAS).stdout.split())
    assert "column 'height': 0.3 % of rows hold no number and count as missing: '1,234,5'" in text
    Path("schema.toml").write_text(SCHEMA + '\n[columns.on]\nkind = "date"\ngranularity = "weekday"\n')
    Path("dates.csv").write_text("height,dose,bought,on\n1.5,1,no,31.12.2024\n")
    text = " ".join(tacit("check dates.csv --schema schema.toml").stdout.split())
    assert "'31.12.2024'; declare how they are written, such as format = '%d.%m.%Y'" in text


STRAYS = {
    "one date": ("on", ["2024-12-31"] * 9 + ["31.12.2024"], ""),
    "half of the dates": ("on", ["2024-12-31"] * 5 + ["31.12.2024"] * 5, ""),
    "most dates": ("on", ["2024-12-31"] * 4 + ["31.12.2024"] * 6, "format = '%d.%m.%Y'"),
    "two kinds of dates": ("on", ["31.12.2024"] * 4 + ["7-Jan-18", "8-Jan-18"] + ["2024-12-31"], "format = '%d.%m.%Y'"),
    "one comma": ("height", ["1.5"] * 9 + ["1,5"], ""),
    "commas and whole numbers": ("height", ["1"] * 8 + ["1,5", "1,7"], "give --decimal ,"),
    "more points": ("height", ["1.5", "1.6", "1,7", "2"], ""),
}
"""Cells, and what is advised: nothing against a stray one where the declared format fits most."""


@pytest.mark.parametrize("kind", STRAYS)
def test_check_advises_another_format_where_most_cells_have_it(place: Path, tacit: Run, kind: str) -> None:
    column, cells, advice = STRAYS[kind]
    Path("schema.toml").write_text(SCHEMA + '\n[columns.on]\nkind = "date"\ngranularity = "weekday"\n')
    rows_of = [f'"{cell}",1,no,2024-01-01' if column == "height" else f"1,1,no,{cell}" for cell in cells]
    Path("data.csv").write_text("\n".join(["height,dose,bought,on", *rows_of, ""]))
    text = " ".join(tacit("check data.csv --schema schema.toml").stdout.split())
    hints = [hint for hint in ("declare how they are written", "give --decimal ,") if hint in text]
    assert len(hints) == bool(advice)
    assert advice in text


@pytest.mark.parametrize(("option", "given"), [("--decimal", ";"), ("--delimiter", "ab"), ("--encoding", "klingon")])
def test_a_wrong_format_is_named_by_its_option(place: Path, tacit: Run, option: str, given: str) -> None:
    for command in (("check", "plain.csv"), ("fit", "plain.csv", "--model", "m.json")):
        result = tacit(*command, "--schema", "schema.toml", option, given)
        assert (result.exit_code, option in result.stderr, given in result.stderr) == (2, True, True), result.output
