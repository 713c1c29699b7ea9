"""Checks tools/papers.md: every algorithm and theorem of the papers has a row with its file and its test.

    python -m tools.papers_page            prints what is wrong; exit status 1 if anything is

The file has one section a paper, with a table ``item | file | test``; ``docs/papers.md`` includes it. What the papers
contain is ``tools/papers.toml``; an item without a row is an error.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tools" / "papers.md"
PAPERS = ROOT / "tools" / "papers.toml"

COLUMNS = ("item", "file", "test")
KINDS = {
    "algorithm": "Algorithm", "algorithms": "Algorithm", "alg": "Algorithm", "algs": "Algorithm",
    "theorem": "Theorem", "theorems": "Theorem", "thm": "Theorem", "thms": "Theorem",
    "lemma": "Lemma", "lemmas": "Lemma", "lem": "Lemma",
    "corollary": "Corollary", "cor": "Corollary",
    "proposition": "Proposition", "prop": "Proposition",
    "definition": "Definition", "def": "Definition",
    "claim": "Claim", "claims": "Claim", "observation": "Observation", "remark": "Remark", "remarks": "Remark",
    "example": "Example", "table": "Table", "tables": "Table", "figure": "Figure", "figures": "Figure",
}  # fmt: skip
NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*"
REFERENCE = re.compile(
    rf"\b({'|'.join(sorted(KINDS, key=len, reverse=True))})s?\.?\s*({NUMBER}(?:\s*(?:,|-|–|to|and|/)\s*{NUMBER})*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Row:
    """One line of the page: its paper, an item, and the files and tests that stand for it."""

    paper: str
    item: str
    file: str
    test: str


def tables(text: str, columns: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """The lines of every markdown table of ``text`` whose header is ``columns``, code marks stripped."""
    inside = False
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            inside = False
            continue
        cells = tuple(cell.strip().strip("`") for cell in line.strip().strip("|").split("|"))
        if tuple(c.lower() for c in cells) == columns:
            inside = True
        elif inside and not all(re.fullmatch(r":?-+:?", c) for c in cells):
            yield cells


def rows(text: str | None = None) -> list[Row]:
    """All rows of the page, in its order.

    Raises:
        ValueError: If a section is not the title of a paper, or a row does not have three cells.
    """
    keys = {content["title"]: paper for paper, content in papers().items()}
    results = []
    for section in re.split(r"^## ", PAGE.read_text("utf-8") if text is None else text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if title not in keys:
            raise ValueError(f"tools/papers.md: {title!r} is not the title of a paper in {PAPERS.name}")
        for cells in tables(body, COLUMNS):
            if len(cells) != len(COLUMNS):
                raise ValueError(f"tools/papers.md: a row needs {len(COLUMNS)} cells: {' | '.join(cells)}")
            results.append(Row(keys[title], *cells))
    return results


def papers() -> dict[str, dict[str, object]]:
    """What the papers contain: per paper its title and its items."""
    return tomllib.loads(PAPERS.read_text("utf-8"))


def named_items(text: str) -> set[str]:
    """The items a cell speaks of: ``Thms 20-22, Alg. 3`` gives Theorem 20, 21, 22 and Algorithm 3."""
    results: set[str] = set()
    for kind, numbers in REFERENCE.findall(text):
        parts = re.split(r"\s*(,|-|–|to|and|/)\s*", numbers)
        previous = ""
        for sign, number in zip([",", *parts[1::2]], parts[0::2], strict=True):
            if sign in {"-", "–", "to"} and previous.isdigit() and number.isdigit():
                results.update(f"{KINDS[kind.lower()]} {n}" for n in range(int(previous), int(number) + 1))
            results.add(f"{KINDS[kind.lower()]} {number}")
            previous = number
    return results


def normalised(text: str) -> str:
    """Letters and digits only, lower case: how items without a number are compared."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def items(content: dict[str, object]) -> list[str]:
    """The items of a paper, one by one: ``Lemmas 28, 29`` are two."""
    names = [str(item).split(":")[0] for item in content["items"]]  # type: ignore[attr-defined]
    return [single for name in names for single in (sorted(named_items(name)) or [name])]


def covers(row: Row, paper: str, item: str) -> bool:
    """Whether a row stands for one item: by its number, or by its name when it has none."""
    if row.paper != paper:
        return False
    return item in named_items(row.item) if named_items(item) else normalised(item) in normalised(row.item)


def uncovered(found: list[Row]) -> list[tuple[str, str]]:
    """``(paper, item)`` for everything in the papers that no row stands for."""
    return [
        (paper, item)
        for paper, content in papers().items()
        for item in items(content)
        if not any(covers(row, paper, item) for row in found)
    ]


def unlisted(content: dict[str, object]) -> list[str]:
    """Numbers of a paper's counters that no item of its list has: kinds share a counter, which has no gaps."""
    listed, missing = set(items(content)), []
    for counter in content.get("counters", []):  # type: ignore[attr-defined]
        section, _, first = counter["first"].rpartition(".")
        for number in range(int(first), int(counter["last"].rpartition(".")[2]) + 1):
            name = f"{section}.{number}" if section else str(number)
            known = {f"{kind} {name}" for kind in counter["kinds"]}
            if not known & listed and name not in counter.get("proofs", []):
                missing.append(f"{' or '.join(counter['kinds'])} {name}")
    return missing


@cache
def test_names(path: Path) -> set[str]:
    """Names of the tests a file holds, methods as ``Class::test``, from its syntax tree."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.update(f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef))
    return names


def problems(found: list[Row]) -> list[str]:
    """What is wrong with the rows: unknown papers, files or tests that do not exist."""
    wrong: list[str] = []
    known = papers()
    for row in found:
        where = f"tools/papers.md: {row.item}"
        if row.paper not in known:
            wrong.append(f"{where}: unknown paper {row.paper!r}; known: {', '.join(known)}")
        files = re.split(r"`?\s*,\s*`?", row.file)
        wrong += [f"{where}: no file {file}" for file in files if not (ROOT / file.split("::")[0]).is_file()]
        for test in re.split(r"`?\s*,\s*`?", row.test):
            file, _, name = test.partition("::")
            name = name.split("[")[0]
            if not (ROOT / file).is_file():
                wrong.append(f"{where}: no test file {file}")
            elif name not in test_names(ROOT / file):
                wrong.append(f"{where}: no test {name or '(unnamed)'} in {file}")
    return wrong


def main() -> int:
    """Prints what is wrong with the page; the exit status is 1 when anything is."""
    result = rows()
    wrong = problems(result) + [f"no row for {paper}: {item}" for paper, item in uncovered(result)]
    wrong += [
        f"{PAPERS.name}: {paper} numbers it, the list does not: {item}"
        for paper, content in papers().items()
        for item in unlisted(content)
    ]
    print("\n".join(wrong) or f"{len(result)} rows, and every item of the papers has one")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
