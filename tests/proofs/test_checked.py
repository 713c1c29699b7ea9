"""Coq accepts every lemma, none rests on an axiom, and the table of lemmas names what is there."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tacit.privacy.lemmas import DIGESTS, PATTERNS, lemmas_of, used_files
from tools import check_proofs
from tools.check_proofs import CLOSED, PROOFS, check, files, theorems

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coq is not installed; make setup installs it")


@needs_coq
def test_every_theorem_is_closed() -> None:
    assert check() == CLOSED


@needs_coq
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("apply quot_shrinks", "admit"),
        ("Proof. unfold square. nia. Qed.", "Admitted."),
        ("0 <= square x", "1 <= square x"),
    ],
)
def test_a_gap_and_a_wrong_constant_are_refused(tmp_path: Path, old: str, new: str, monkeypatch: Any) -> None:
    """In the shared file and one that uses it, which is enough to see that the check says so."""
    monkeypatch.setattr(check_proofs, "files", lambda: ["finite_sums", "joint_bound"])
    for path in PROOFS.glob("*.v"):
        text = path.read_text("utf-8")
        (tmp_path / path.name).write_text(text.replace(old, new), "utf-8")
    try:
        said = check(tmp_path)
    except ValueError:
        said = "refused"
    assert said != CLOSED


def test_no_file_states_an_axiom() -> None:
    for name in files():
        text = (PROOFS / f"{name}.v").read_text("utf-8")
        assert not re.search(r"^\s*(Axiom|Parameter|Conjecture|Admitted|admit)\b", text, re.MULTILINE), name


def test_the_digests_are_those_of_the_files() -> None:
    assert {name: hashlib.sha256((PROOFS / f"{name}.v").read_bytes()).hexdigest() for name in files()} == DIGESTS


def test_the_table_names_theorems_that_exist() -> None:
    there = {f"{name}.{theorem}" for name in files() for theorem in theorems(name)}
    assert {lemma for lemmas in PATTERNS.values() for lemma in lemmas} <= there


@pytest.mark.parametrize(
    ("theorem", "lemma"),
    [
        ("weighted histogram: one row, one cell", "histogram.add_or_remove"),
        ("weighted histogram: one row, one cell; replace", "histogram.replace"),
        (
            "weighted histogram: one row, one cell, through a public map; replace = remove + add",
            "histogram.replace_through_a_map_l2",
        ),
        ("counts by margin and label: one row, one cell", "histogram.add_or_remove"),
        ("sum of rows: row norm; replace = remove + add", "vector_sums.replace"),
        ("weighted histogram: one row, one cell; 3 rows per unit", "histogram.add_or_remove"),
        ("weighted histogram: one row, one cell; 3 rows per unit", "units.l2"),
        ("sum of rows: row norm; replace = remove + add; 12 rows per unit", "units.l1"),
        ("error counts of concepts: a row adds an error or none; 2 rows per unit", "units.range"),
        ("EM-cover: exact moments of these steps (replace)", "cover.the_game_bounds_every_run"),
        ("EM-cover: largest likelihood ratio (add/remove)", "cover.no_run_is_likelier"),
        ("draws from a slick measure: Lemma 55 with Lemma 21 (sharp: attained)", "draws.draws"),
        ("split scores: a row moves them one way, by at most 9 L(1/9) (node_risk_range)", "splits.one_way"),
        ("leaf of largest risk: a row moves one leaf by at most 9 L(1/9) (node_risk_range)", "splits.leaf_rises"),
        ("sum of rows: row norm; noise in shares of 5 sites, of which 3 suffice", "vector_sums.add_or_remove"),
    ],
)
def test_a_claim_is_traced_to_its_lemma(theorem: str, lemma: str) -> None:
    assert lemma in lemmas_of(theorem)
    name = lemma.split(".", maxsplit=1)[0]
    assert used_files([theorem])[f"{name}.v"] == DIGESTS[name]


@pytest.mark.parametrize(
    "theorem",
    [
        "",
        "EM-cover: exact moments",
        "EM-cover: closed Renyi curve (add/remove)",
        "draws from a slick measure: Lemma 55 with Lemma 21",
        "one row, one cell",
        "one row, one cell; 3 rows per unit",
        "; 3 rows per unit",
        "weighted histogram: one row, one cell; 0 rows per unit",
        "weighted histogram: one row, one cell; many rows per unit",
    ],
)
def test_what_no_lemma_covers_is_not_counted(theorem: str) -> None:
    assert lemmas_of(theorem) == ()
    assert used_files([theorem]) == {}
