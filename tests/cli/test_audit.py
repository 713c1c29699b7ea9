"""`tacit audit`: what it says, and its exit codes."""

from __future__ import annotations

import json

import numpy as np

from tacit.noise.seeded_source import SeededSource

FLAG = """
[label]
column = "bought"
classes = ["no", "yes"]

[columns.red]
kind = "boolean"
"""

AUDIT = ("audit", "--schema", "schema.toml", "--learner", "decision-list", "--random-state", "1")


def test_an_honest_learner_holds_and_the_words_say_what_that_means(folder, tacit):
    done = tacit(*AUDIT, "--trials", "10")
    assert done.exit_code == 0
    words = " ".join(done.output.split())
    assert "10 fits each with and without one row, on tables made from schema.toml" in words
    assert "no proof" in words
    assert "it holds" in words
    assert "Nothing was spent" in words


def test_json_says_the_same_to_machines(folder, tacit):
    done = tacit(*AUDIT, "--trials", "10", "--neighbouring", "replace_one", "--delta", "0", "--json")
    assert done.exit_code == 0
    found = json.loads(done.output)
    assert found["holds"] is True
    assert found["neighbouring"] == "replace_one"
    assert found["trials"] == 10
    assert found["epsilon_lower"] <= found["epsilon"] == 1
    assert found["seconds"] > 0


def test_a_violated_claim_is_exit_code_4(folder, tacit, monkeypatch):
    (folder / "schema.toml").write_text(FLAG)
    monkeypatch.setattr(SeededSource, "laplace", lambda self, scale, size: np.zeros(size, np.int64))
    monkeypatch.setattr(SeededSource, "gaussian", lambda self, scale, size: np.zeros(size, np.int64))
    arguments = ("--schema", "schema.toml", "--learner", "halfspace", "--epsilon", "0.1", "--random-state", "1")
    done = tacit("audit", *arguments, "--trials", "21")
    assert done.exit_code == 4
    assert "VIOLATED" in done.output


def test_evidence_of_an_earlier_audit_is_read(folder, tacit):
    first = json.loads(tacit(*AUDIT, "--trials", "10", "--json").output)
    (folder / "first.json").write_text(json.dumps({**first, "evidence": 20.0}))
    again = tacit(*AUDIT, "--trials", "10", "--earlier", "first.json")
    assert again.exit_code == 4
    assert "in earlier ones" in " ".join(again.output.split())
    assert tacit(*AUDIT, "--earlier", "schema.toml").exit_code == 2


def test_numbers_and_no_schema(folder, tacit):
    (folder / "schema.toml").write_text(
        '[label]\ncolumn = "t"\nkind = "numeric"\nlower = 0\nupper = 1\n\n[columns.red]\nkind = "boolean"\n'
    )
    done = tacit("audit", "--schema", "schema.toml", "--trials", "10", "--json", "--random-state", "1")
    assert json.loads(done.output)["estimator"] == "AdditiveBoostRegressor"
    done = tacit("audit", "--trials", "10", "--learner", "decision-list", "--random-state", "1")
    assert done.exit_code == 0
    assert "one column of numbers" in " ".join(done.output.split())


def test_mistakes_end_in_one_message(folder, tacit):
    for arguments, words in (
        (("--epsilon", "inf"), "nothing to audit"),
        (("--trials", "3"), "at least 10"),
        (("--confidence", "95"), "between 0 and 1"),
        (("--schema", "none.toml"), "cannot be read"),
    ):
        done = tacit("audit", *arguments)
        assert done.exit_code == 2
        assert words in " ".join(done.output.split())
        assert "Nothing was spent" in " ".join(done.output.split())
