"""`tacit certificate`: papers on the command line, and what is refused."""

from __future__ import annotations

import json

import pytest

FIT = ("fit", "data.csv", "--schema", "schema.toml", "--learner", "trees", "--model", "m.json")


@pytest.fixture
def model(folder, tacit):
    assert tacit(*FIT).exit_code == 0
    return folder / "m.json"


def test_papers_are_written_and_the_statement_can_be_verified(folder, tacit, model):
    (folder / "card.toml").write_text('controller = "St. Mary\'s"\npurpose = "Calls"\n', "utf-8-sig")
    tacit("keys", "new", "key")
    asked = ("--registry", "r.yaml", "--ml-bom", "b.json", "--dossier", "d.html", "--erasure", "e.json")
    done = tacit("certificate", "m.json", *asked, "--sign", "key", "--meta", "card.toml")
    assert done.exit_code == 0, done.output
    assert "members found at 1 % false alarms" in done.stdout
    assert "legal_basis" in done.stdout
    assert "controller" not in done.stdout
    assert json.loads((folder / "b.json").read_text())["bomFormat"] == "CycloneDX"
    assert (folder / "d.html").read_text().startswith("<!doctype html>")
    assert "St. Mary's" in (folder / "r.yaml").read_text()
    assert "the statement holds" in tacit("verify", "e.json", "--key", "key.pub").stdout
    tacit("keys", "new", "other")
    wrong = tacit("verify", "e.json", "--key", "other.pub", "--json")
    assert (wrong.exit_code, json.loads(wrong.stdout)["findings"]) == (4, ["it was signed with another key"])
    assert tacit("verify", "e.json", "--model", "m.json").exit_code == 2


def test_the_risks_are_there_for_machines(tacit, model):
    said = json.loads(tacit("certificate", "m.json", "--json").stdout)
    assert [risk["persons"] for risk in said["risks"]] == [1, 10]
    assert 0 < said["risks"][0]["advantage"] < said["risks"][1]["advantage"] < 1
    assert said["written"] == []


def test_mistakes_are_named_and_nothing_is_written(folder, tacit, model):
    (folder / "bad.toml").write_text('purpos = "x"')
    (folder / "escape.toml").write_text('purpose = "red \\u001b[31m"')
    (folder / "turned.toml").write_text('purpose = "\\u202ecod.exe"')
    for more, words in (
        (("--erasure", "e.json"), "--erasure and --sign belong together"),
        (("--sign", "key"), "--erasure and --sign belong together"),
        (("--registry", "m.json"), "would overwrite"),
        (("--registry", "r.yaml", "--meta", "bad.toml"), "did you mean 'purpose'"),
        (("--registry", "r.csv", "--dossier", "r.pdf"), "--dossier: r.pdf must end in .md or .html or .htm"),
        (("--registry", "r.csv", "--dossier", "r.md"), "--registry: r.csv must end in .yaml or .yml"),
        (("--dossier", "r.md", "--meta", "escape.toml"), "purpose must hold no control characters, got '\\x1b'"),
        (("--dossier", "r.md", "--meta", "turned.toml"), "control characters, got '\\u202e'"),
    ):
        done = tacit("certificate", "m.json", *more)
        assert done.exit_code == 2
        assert words in " ".join(done.output.split())
    assert not list(folder.glob("[er].*"))


def test_a_model_that_must_not_be_released_fails_with_the_code_of_a_claim(folder, tacit):
    tacit(*FIT, "--random-state", "0")
    done = tacit("certificate", "m.json", "--registry", "r.yaml")
    assert done.exit_code == 4
    assert not (folder / "r.yaml").exists()
