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
    result = tacit(*AUDIT, "--trials", "10", code=0)
    words = result.words
    assert "10 fits each with and without one row, on tables made from schema.toml" in words
    assert "no proof" in words
    assert "it holds" in words
    assert "Nothing was spent" in words


def test_json_says_the_same_to_machines(folder, tacit):
    result = tacit(*AUDIT, "--trials", "10", "--neighbouring", "replace_one", "--delta", "0", "--json", code=0)
    document = json.loads(result.output)
    assert document["holds"] is True
    assert document["neighbouring"] == "replace_one"
    assert document["trials"] == 10
    assert document["epsilon_lower"] <= document["epsilon"] == 1
    assert document["seconds"] > 0


def test_a_violated_claim_is_exit_code_4(folder, tacit, monkeypatch):
    (folder / "schema.toml").write_text(FLAG)
    monkeypatch.setattr(SeededSource, "laplace", lambda self, scale, size: np.zeros(size, np.int64))
    monkeypatch.setattr(SeededSource, "gaussian", lambda self, scale, size: np.zeros(size, np.int64))
    arguments = ("--schema", "schema.toml", "--learner", "halfspace", "--epsilon", "0.1", "--random-state", "1")
    tacit("audit", *arguments, "--trials", "21", code=4, says="VIOLATED")


def test_evidence_of_an_earlier_audit_is_read(folder, tacit):
    first = tacit(*AUDIT, "--trials", "10", "--json").json
    (folder / "first.json").write_text(json.dumps({**first, "evidence": 20.0}))
    tacit(*AUDIT, "--trials", "10", "--earlier", "first.json", code=4, says="in earlier ones")
    tacit(*AUDIT, "--earlier", "schema.toml", code=2)


def test_numbers_and_no_schema(folder, tacit):
    (folder / "schema.toml").write_text(
        '[label]\ncolumn = "t"\nkind = "numeric"\nlower = 0\nupper = 1\n\n[columns.red]\nkind = "boolean"\n'
    )
    result = tacit("audit --schema schema.toml --trials 10 --json --random-state 1")
    assert json.loads(result.output)["estimator"] == "AdditiveBoostRegressor"
    result = tacit("audit --trials 10 --learner decision-list --random-state 1", code=0, says="one column of numbers")


def test_mistakes_end_in_one_message(folder, tacit):
    for arguments, words in (
        (("--epsilon", "inf"), "nothing to audit"),
        (("--trials", "3"), "at least 10"),
        (("--confidence", "95"), "between 0 and 1"),
        (("--schema", "none.toml"), "cannot be read"),
    ):
        tacit("audit", *arguments, code=2, says=[words, "Nothing was spent"])
