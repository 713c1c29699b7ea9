"""tools/papers.md: every algorithm and theorem has a file and a test."""

from __future__ import annotations

import pytest

from tools import papers_page as pages


def test_every_file_and_test_exists() -> None:
    wrong = pages.problems(pages.rows())
    assert not wrong, "\n".join(wrong)


def test_everything_in_the_papers_has_a_row() -> None:
    assert not pages.uncovered(pages.rows())


def test_the_list_has_all_that_the_papers_number() -> None:
    assert [line for content in pages.papers().values() for line in pages.unlisted(content)] == []


def test_a_gap_in_a_counter_is_found() -> None:
    kinds = ["Theorem", "Lemma"]
    content: dict[str, object] = {
        "items": ["Theorem 3.1: a", "Lemmas 3.3, 3.4: b", "Algorithm 2: c"],
        "counters": [
            {"kinds": kinds, "first": "3.1", "last": "3.6", "proofs": ["3.5"]},
            {"kinds": ["Algorithm"], "first": "1", "last": "2"},
        ],
    }
    assert pages.unlisted(content) == ["Theorem or Lemma 3.2", "Theorem or Lemma 3.6", "Algorithm 1"]


def test_every_number_of_a_range_needs_a_row() -> None:
    row = pages.Row("trees", "Tables 1, 3", "README.md", "tests/test_rules.py::dotted")
    missing = pages.uncovered([row])
    assert ("trees", "Table 2") in missing
    assert ("trees", "Table 3") not in missing


def test_an_item_without_a_row_is_found() -> None:
    lost = [row for row in pages.rows() if row.file != "src/tacit/boosting/schema.py"]
    assert ("boosting", "Algorithm 1") in pages.uncovered(lost)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Thm 22 (the private weak learner)", {"Theorem 22"}),
        ("Algorithms 1-3, Lemma 21", {"Algorithm 1", "Algorithm 2", "Algorithm 3", "Lemma 21"}),
        ("Lemma A.1 and Theorem 3.5", {"Lemma A.1", "Theorem 3.5"}),
        ("Algs. 14, 15", {"Algorithm 14", "Algorithm 15"}),
        ("nothing numbered", set()),
    ],
)
def test_references_are_read_as_people_write_them(text: str, items: set[str]) -> None:
    assert pages.named_items(text) == items


def test_a_wrong_row_is_found() -> None:
    row = pages.Row("boosting", "Theorem 22", "src/tacit/nowhere.py", "tests/test_rules.py::test_nowhere")
    assert [line.split(": ", 2)[2] for line in pages.problems([row])] == [
        "no file src/tacit/nowhere.py",
        "no test test_nowhere in tests/test_rules.py",
    ]
    assert pages.problems([pages.Row("poetry", "Ode 1", "README.md", "tests/test_rules.py::dotted")])


@pytest.mark.parametrize("text", ["## Odes\n", "## {title}\n|item|file|test|\n|---|---|---|\n|a|b|\n"])
def test_a_section_or_row_that_nobody_can_place_is_refused(text: str) -> None:
    title = str(next(iter(pages.papers().values()))["title"])
    with pytest.raises(ValueError, match=r"not the title of a paper|needs 3 cells"):
        pages.rows(text.format(title=title))
