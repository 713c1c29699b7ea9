"""The story of a data-protection officer: who signed, what is protected, what holds; by exit codes and in red."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run

FIT = ("fit", "data.csv", "--schema", "schema.toml", "--model", "m.json")


def test_a_signed_model_is_verified_by_its_key_and_no_other(folder: Path, tacit: Run) -> None:
    for name in ("key", "other"):
        tacit("keys new", name, code=0)
    tacit("keys new key", code=2)  # never overwritten
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    tacit("budget create", *account, "--epsilon", "2", "--delta", "1e-6", code=0)
    tacit(*FIT, "--sign", "key", *account, code=0)
    tacit("verify m.json --key key.pub", *account, code=0)
    wrong = tacit("verify m.json --key other.pub --json", code=4)
    assert wrong.json["findings"] == ["it was signed with another key"]
    lines = tacit("budget show", *account, "--json").json
    label = lines["reservations"][1]["label"]
    assert label.startswith("signed: model ")
    shown = tacit("budget show", *account).words
    digest = label.removeprefix("signed: model ")[:64]
    assert (f"signed: model {digest[:12]}…, schema" in shown, digest[:13] in shown) == (True, False)
    assert lines["spent"] == pytest.approx(lines["reservations"][0]["epsilon"])
    tacit(*FIT, "--force", code=0)
    tacit("verify m.json --key key.pub", code=4, says="the claim does NOT hold: it is not signed")
    unsigned = tacit(
        "verify m.json",
        *account,
        code=4,
        says="the charges add up, but NOT known to be paid for: it cannot be matched to the account",
    )
    assert "does NOT hold" not in unsigned.words
    assert "protects one row" in unsigned.words
    said = tacit("verify m.json", *account, "--json").json
    assert (said["holds"], said["findings"]) == (None, [])
    tacit(*FIT, "--force", "--epsilon", "0.5", code=0)
    assert "its charges are missing" in tacit("verify m.json", *account).words
    for more, words in (
        (("--account", "data.csv"), "data.csv is no extract of an account"),
        (("--account", "gone.json"), "gone.json does not exist"),
        (account[:2], "--dataset is missing"),
        (account[2:], "give --account, too"),
    ):
        tacit("verify m.json", *more, code=2, says=words)


def test_a_fit_that_an_account_pays_for_hints_at_its_signature_once(folder: Path, tacit: Run) -> None:
    account = ("--account", "sqlite:///b.tacit.db", "--dataset", "shop")
    tacit("budget create", *account, "--epsilon", "9", "--delta", "1e-6", code=0)
    assert tacit(*FIT, *account).words.count("--sign") == 1
    tacit("keys new key", code=0)
    assert "--sign" not in tacit(*FIT, *account, "--force", "--sign", "key").words + tacit(*FIT, "--force").words


def test_a_certificate_pasted_into_another_model_is_refused_everywhere(folder: Path, tacit: Run) -> None:
    tacit(*FIT, code=0)
    honest = json.loads(Path("m.json").read_text())
    tacit(*FIT[:-1], "bare.json", "--epsilon", "inf", code=0)
    forged = {**json.loads(Path("bare.json").read_text()), "certificate": honest["certificate"]}
    Path("forged.json").write_text(json.dumps(forged))
    for command in (
        ("verify", "forged.json"),
        ("report", "forged.json"),
        ("predict", "forged.json", "data.csv", "-o", "p.csv"),
        ("evaluate", "forged.json", "data.csv", "--epsilon", "1"),
    ):
        tacit(*command, code=4, says="the certificate belongs to another model")
    page = Path("forged.html").read_text()
    assert '<div class="verdict no">' in page
    assert "Does not hold" in page
    assert "the certificate belongs to another model" in page
    assert "tacit verify MODEL.json" in page
    assert not Path("p.csv").exists()
    # nothing of what does not hold is praised
    assert "promise is" not in page
    assert "almost equally likely" not in page
    assert "treat the model as if it held the data" in page
    said = tacit("verify forged.json").words
    assert "strong" not in said
    assert "releasable NO" in said
    plain = tacit("verify forged.json --json").json
    assert (plain["holds"], plain["releasable"], plain["strength"]) == (False, False, None)


@pytest.mark.parametrize(
    "edit",
    [
        lambda file: file["certificate"].update(entries=[]),
        lambda file: file["certificate"].update(delta=0.999),
        lambda file: file["model"].update(intercept=9.0),
        lambda file: file.update(model={"classes": ["no", "yes"]}),
        lambda file: file["schema"]["columns"].pop(),
        lambda file: file.update(kind="mean"),
        lambda file: file["certificate"].pop("epsilon"),
    ],
)
def test_the_page_of_an_edited_file_is_red(fitted: Path, folder: Path, tacit: Run, edit: Callable[[Any], Any]) -> None:
    file = json.loads((fitted / "model.json").read_text())
    edit(file)
    Path("m.json").write_text(json.dumps(file))
    tacit("verify m.json", code=4)
    tacit("report m.json", code=4)
    page = Path("m.html").read_text()
    assert '<div class="verdict no">' in page
    assert "may leave the room" not in page


def test_what_is_protected_is_said(folder: Path, tacit: Run) -> None:
    result = tacit(*FIT)
    assert "protects one row" in result.words
    with Path("schema.toml").open("a") as schema:
        schema.write('\n[columns.id]\nkind = "id"\n')
    question = "the schema declares the identifier"  # asked wherever a claim is read
    tacit(*FIT, "--force", "--report", "m.html", code=0, says="may one id have several rows?")
    tacit("verify m.json", code=0, says=question)
    facts = tacit("verify m.json --json").json
    assert any(question in words for words in facts["warnings"])
    assert question in " ".join(Path("m.html").read_text().split())
    fingerprint = tacit("schema validate schema.toml --json").json["fingerprint"]
    assert facts["schema_fingerprint"] == fingerprint
    assert f"schema fingerprint {fingerprint}" in tacit("verify m.json").words
    said = tacit(*FIT, "--force", "--unit", "id", "--max-rows", "3", "--report", "m.html")
    assert "protects one id, at most 3 rows" in said.words
    assert "several rows?" not in said.words
    verified, page = tacit("verify m.json", says="one id, at most 3 rows").words, Path("m.html").read_text()
    assert "all rows of one unit (at most 3, all with one value of “id”)" in page
    assert question not in verified + page
    for wrong in (("--max-rows", "3"), ("--unit", "age")):
        tacit(*FIT, "--force", *wrong, code=2)


@pytest.mark.parametrize(
    ("name", "asked"),
    [("Patienten ID", True), ("identity", False)],
)
def test_a_column_called_an_identifier_is_asked_about(folder: Path, tacit: Run, name: str, asked: bool) -> None:
    rows = [f"{row},{row % 50},{'yes' if row % 2 else 'no'}" for row in range(200)]
    Path("people.csv").write_text("\n".join([f"{name},age,ill", *rows]))
    fit = ("fit", "people.csv", "--target", "ill", "--classes", "no,yes")
    for more in (("--dry-run",), ("--model", "people.json", "--set", "interactions=False")):
        assert (f"may one {name} have several rows?" in tacit(*fit, *more).words) is asked


def test_what_deserves_a_look_is_said_once_and_where_to_look(folder: Path, tacit: Run) -> None:
    assert "tacit check" not in tacit(*FIT, "--epsilon", "9").words
    lines = Path("data.csv").read_text().splitlines()
    name, rest = lines[0].split(",", 1)
    Path("data.csv").write_text(
        "\n".join([f"{name},{rest}", *(f'"1,5",{line.split(",", 1)[1]}' for line in lines[1:])])
    )
    said = tacit(*FIT, "--epsilon", "9", "--force").words
    assert said.count(f"{name}: ") == said.count("% missing") == 1
    assert "hint tacit check data.csv --schema schema.toml may show why" in said


def test_warnings_are_told_on_every_path(folder: Path, tacit: Run) -> None:
    weak = ("--delta", "0.5", "--epsilon", "11")
    for command in (("plan", "--schema", "schema.toml"), FIT):
        said = tacit(*command, *weak).words
        assert "elta 0.5 is above" in said, command
        assert "psilon 11 is above 10" in said, command
        assert "strong" not in said
    tacit("report m.json", code=0)
    assert "Delta 0.5 is above" in Path("m.html").read_text()
    assert "promises nothing" in Path("m.html").read_text()


def test_a_model_is_learned_again_from_its_tape_and_no_other(folder: Path, tacit: Run) -> None:
    recorded = (*FIT, "--learner", "trees", "--set", "n_trees=3", "--tape", "fit.tape")
    assert tacit(*recorded, "--json").json["written"] == {"model": "m.json", "tape": "fit.tape"}
    Path("data.csv").unlink()  # no row is there
    result = tacit("verify m.json --tape fit.tape", code=0, says="the model follows from it, without a row")
    said = tacit("verify m.json --tape fit.tape --json").json["tape"]
    assert (said["follows"], said["findings"], said["remarks"]) == (True, [], [])
    data = json.loads(Path("m.json").read_text())
    data["model"]["trees"][1]["values"][0] += 1
    Path("changed.json").write_text(json.dumps(data))
    result = tacit("verify changed.json --tape fit.tape --json", code=4)
    findings = result.json["findings"]
    assert findings[0] == "the certificate belongs to another model"
    assert findings[1].startswith("the model is not the one that the tape gives: model.trees[1].values[0] is ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "m.json", "--tape", "none.tape"), "none.tape"),
        (("verify", "m.json", "--tape", "m.json"), "m.json is no tape"),
        ((*FIT, "--force", "--tape", "data.csv"), "--tape: data.csv is the data"),
        ((*FIT, "--force", "--tape", "nowhere/fit.tape"), "--tape: the folder nowhere does not exist"),
        ((*FIT, "--force", "--tape", "fit.tape", "--epsilon", "inf"), "it would hold exact answers"),
        ((*FIT, "--force", "--tape", "fit.tape", "--batches"), "--tape records one fit"),
        ((*FIT[:-1], "other.json", "--tape", "m.json"), "m.json exists"),
        *(
            ((*FIT, "--force", "--tape", f"fit{ending}"), f"fit{ending} would hold Parquet")
            for ending in (".csv", ".json", ".tape.gz", ".txt")
        ),
        (("verify", "m.json", "--tape", "data.csv"), "data.csv is no tape"),
        (("verify", "m.json", "--tape", "people.parquet"), "people.parquet is no tape"),
        (("verify", "m.json", "--tape", "."), "Is a directory"),
    ],
)
def test_a_mistaken_tape_is_named_before_anything_is_spent(
    arguments: tuple[str, ...], words: str, folder: Path, fitted: Path, tacit: Run
) -> None:
    Path("m.json").write_bytes((fitted / "model.json").read_bytes())
    pq.write_table(pa.table({"age": [40, 50]}), "people.parquet")
    result = tacit(*arguments, code=2, says=words)
    assert "spent and" not in result.words
    assert not list(Path().glob("fit.*"))
