"""Citations name the paper behind a learner, and agree with CITATION.cff."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("AdditiveBoostClassifier", "Carmosino"),
        ("BoostedTreesClassifier", "Nock"),
        ("DecisionListClassifier", "Fang"),
        ("HalfspaceBoostClassifier", "Carmosino"),
    ],
)
def test_a_learner_cites_its_paper(name: str, author: str) -> None:
    learner = getattr(tacit, name)
    assert author in tacit.cite(learner)
    assert tacit.cite(learner()) == tacit.cite(learner)
    assert f"version = {{{tacit.__version__}}}" in tacit.cite(learner)


def test_closure_cites_its_paper() -> None:
    assert "Moran" in tacit.cite(tacit.closure.AgnosticClassifier)


def test_without_a_learner_all_four_papers_are_cited() -> None:
    assert tacit.cite().count("\n  title") == 5


def test_other_objects_are_refused() -> None:
    with pytest.raises(ValueError, match="cite takes an estimator of tacit or its class, got dict"):
        tacit.cite({})


def test_the_citation_file_has_the_same_titles_and_version() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    titles = [
        line.split("{", 1)[1].rstrip("},") for line in tacit.cite().splitlines() if line.strip().startswith("title")
    ]
    assert all(title.strip() in text for title in titles)
    assert f"version: {tacit.__version__}" in text
