"""`tacit schema`: loud about private data, careful with files, one message for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.schema import CategoricalColumn, IdColumn, NumericColumn, Schema
from tests.cli.conftest import Run


def test_init_writes_a_schema_that_a_person_can_correct(folder: Path, tacit: Run) -> None:
    tacit(
        "schema init data.csv --target bought -o new.toml",
        code=0,
        says=["PUBLIC", "budget", "wrote new.toml: 2 features"],
    )
    schema = Schema.from_toml("new.toml")
    assert schema.columns["age"] == NumericColumn(15, 90)
    assert schema.columns["colour"] == CategoricalColumn(("blue", "green", "red"))
    assert schema.columns["id"] == IdColumn()
    assert schema.label is not None
    assert schema.label.positive == ("yes",)
    assert Path("new.toml").read_text().startswith("# A schema is PUBLIC")
    tacit("schema validate new.toml", code=0)


def test_init_reads_a_data_dictionary(folder: Path, tacit: Run) -> None:
    (folder / "words.csv").write_text("name,kind,lower,upper,categories\nage,numeric,0,99,\nbought,categorical,,,n|y\n")
    result = tacit("schema init --dictionary words.csv --target bought --positive n -o w.toml --json", code=0)
    facts = result.json
    schema = Schema.from_toml("w.toml")
    assert facts["fingerprint"] == schema.fingerprint()
    assert schema.label is not None
    assert schema.label.positive == ("n",)


def test_samples_and_dictionaries_in_other_encodings(folder: Path, tacit: Run) -> None:
    (folder / "old.csv").write_bytes("größe,y\n1,a\n2,b\n".encode("latin-1"))
    (folder / "words.csv").write_bytes(
        "name,kind,lower,upper,categories\ngröße,numeric,0,9,\ny,categorical,,,a|b\n".encode("latin-1")
    )
    for given in (["old.csv"], ["--dictionary", "words.csv"]):
        asked = ("schema", "init", *given, "--target", "y", "-o", "new.toml", "--force")
        tacit(*asked, code=2)
        tacit(*asked, "--encoding", "latin-1", code=0)
        assert list(Schema.from_toml("new.toml").columns) == ["größe"]
    (folder / "words.csv").write_bytes("name,größe\n1,2\n".encode("latin-1"))
    result = tacit("schema init --dictionary words.csv --target y -o x.toml --encoding latin-1")
    assert "error: words.csv, line 2, field 'größe': unknown key" in result.words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv"], "--target is missing"),
        (["--target", "bought"], "either a public sample or --dictionary"),
        (["data.csv", "--dictionary", "data.csv", "--target", "bought"], "either a public sample or --dictionary"),
        (["data.csv", "--target", "bough", "-o", "n.toml"], "did you mean 'bought'"),
        (["data.csv", "--target", "bought", "-o", "n.toml", "--positive", "maybe"], "'maybe' is not one of classes"),
        (["data.csv", "--target", "bought"], "schema.toml exists"),
        (["data.csv", "--target", "bought", "-o", "none/n.toml"], "folder none does not exist"),
        (["none.csv", "--target", "bought", "-o", "n.toml"], "none.csv does not exist"),
        (["empty.csv", "--target", "bought", "-o", "n.toml"], "empty.csv is empty"),
        (["--dictionary", "data.csv", "--target", "bought", "-o", "n.toml"], "unknown key"),
    ],
)
def test_mistakes_end_in_one_message(folder: Path, tacit: Run, arguments: list[str], message: str) -> None:
    (folder / "empty.csv").touch()
    before = (folder / "schema.toml").read_text()
    result = tacit("schema init", *arguments, code=2, says=message)
    assert "spent" not in result.stderr  # nothing could be
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert (folder / "schema.toml").read_text() == before
    assert not (folder / "n.toml").exists()


def test_a_title_above_the_header_is_named(folder: Path, tacit: Run) -> None:
    Path("export.csv").write_text("Export of 3 May,,,\na,b,c,y\n1,2,3,no\n")
    tacit(
        "schema init export.csv --target y -o new.toml", code=2, says="says 'Export of 3 May' and names no other column"
    )


def test_force_overwrites(folder: Path, tacit: Run) -> None:
    tacit("schema init data.csv --target bought --force", code=0)
    assert "id" in Schema.from_toml("schema.toml").columns


def test_validate(folder: Path, tacit: Run) -> None:
    result = tacit("schema validate schema.toml", code=0, says="schema.toml is valid: 2 features, label 'bought'")
    Path("one.toml").write_text('[columns.age]\nkind = "numeric"\nlower = 0\nupper = 9\n')
    assert "one.toml is valid: 1 feature, no label" in tacit("schema validate one.toml").stdout
    facts = tacit("schema validate schema.toml --json").json
    assert facts["valid"] is True
    assert facts["features"] == 2
    (folder / "bad.toml").write_text("[columns.age]\nkind = 'numeric'\nlower = 9\nupper = 1\n")
    result = tacit("schema validate bad.toml", code=2)
    for words in ("bad.toml", "column 'age'", "lower = 9 is not below upper = 1; give lower < upper."):
        assert words in result.words
