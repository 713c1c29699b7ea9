"""`tacit certificate`, `card`, `dossier` and `erasure`: papers on the command line, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def model(folder, fitted):
    shutil.copy(fitted / "model.json", folder / "m.json")


def test_papers_are_written_and_the_statement_can_be_verified(folder, tacit, model):
    (folder / "card.toml").write_text('controller = "St. Mary\'s"\npurpose = "Calls"\n', "utf-8-sig")
    tacit("keys new key")
    asked = ("--registry", "r.yaml", "--ml-bom", "b.json")
    result = tacit(
        "certificate m.json",
        *asked,
        "--meta",
        "card.toml",
        code=0,
        says=["members found at 1 % false alarms", "schema_sources"],
    )
    assert "controller" not in result.stdout
    assert json.loads((folder / "b.json").read_text())["bomFormat"] == "CycloneDX"
    assert "St. Mary's" in (folder / "r.yaml").read_text()
    said = tacit("dossier m.json --meta card.toml --json").json
    assert said["written"] == "m.dossier.html"
    assert "legal_basis" in said["left_to_a_person"]
    assert "controller" not in said["left_to_a_person"]
    assert (folder / "m.dossier.html").read_text().startswith("<!doctype html>")
    tacit("dossier m.json -o d.md", code=0)
    assert (folder / "d.md").read_text().startswith("# Dossier: ")
    assert "m.card.md" in tacit("card m.json --meta card.toml").stdout
    assert (folder / "m.card.md").read_text().startswith('---\nlibrary_name: "tacit"\n')
    assert tacit("erasure m.json --sign key --json").json == {"written": "m.erasure.json"}
    assert "the statement holds" in tacit("verify m.erasure.json --key key.pub").stdout
    tacit("keys new other")
    wrong = tacit("verify m.erasure.json --key other.pub --json")
    assert (wrong.exit_code, wrong.json["findings"]) == (4, ["it was signed with another key"])
    tacit("verify m.erasure.json --model m.json", code=2)


def test_the_risks_are_there_for_machines(tacit, model):
    said = tacit("certificate m.json --json").json
    assert [risk["persons"] for risk in said["risks"]] == [1, 10]
    assert 0 < said["risks"][0]["advantage"] < said["risks"][1]["advantage"] < 1
    assert said["written"] == []


def test_mistakes_are_named_and_nothing_is_written(folder, tacit, model):
    (folder / "bad.toml").write_text('purpos = "x"')
    (folder / "escape.toml").write_text('purpose = "red \\u001b[31m"')
    (folder / "turned.toml").write_text('purpose = "\\u202ecod.exe"')
    for command, words in (
        (("erasure", "m.json", "--sign", "m.json"), "m.json"),
        (("erasure", "m.json", "--sign", "key", "-o", "key"), "that would overwrite it"),
        (("certificate", "m.json", "--registry", "m.json"), "would overwrite"),
        (("certificate", "m.json", "--registry", "r.yaml", "--meta", "bad.toml"), "did you mean 'purpose'"),
        (("certificate", "m.json", "--registry", "r.csv"), "--registry: r.csv must end in .yaml or .yml"),
        (("dossier", "m.json", "-o", "r.pdf"), "--output: r.pdf must end in .html or .htm or .md"),
        (("card", "m.json", "-o", "r.html"), "--output: r.html must end in .md"),
        (("dossier", "m.json", "--meta", "escape.toml"), "purpose must hold no control characters, got '\\x1b'"),
        (("card", "m.json", "--meta", "turned.toml"), "control characters, got '\\u202e'"),
    ):
        tacit(*command, code=2, says=words)
    assert not [*folder.glob("r.*"), *folder.glob("m.*.*")]


def test_a_model_that_must_not_be_released_fails_with_the_code_of_a_claim(folder, tacit):
    tacit("fit data.csv --schema schema.toml --model m.json --random-state 0", code=0)
    tacit("keys new key")
    for command in (("certificate", "--registry", "r.yaml"), ("card",), ("dossier",), ("erasure", "--sign", "key")):
        tacit(command[0], "m.json", *command[1:], code=4)
    assert not [*folder.glob("r.*"), *folder.glob("m.*.*")]
