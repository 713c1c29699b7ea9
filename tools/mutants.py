"""Breaks the library on purpose and says what no test notices: ``make mutants ARGS="theory --minutes 10"``.

cosmic-ray changes one place of a module at a time (a number, an operator, a comparison, a branch). The tests that the
papers page names for the module run first, then those of its room; a mutant that all of them pass is a survivor. With a
time budget it is a random sample, the same for one seed. What cannot matter (annotations, docstrings, messages) is not
changed, nor what ``equivalent_mutants.toml`` says makes no difference. Everything happens in a copy of the tree.

The last line printed is one JSON object: mutants, killed, killed by a named test, survivors.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools.papers_page import ROOT, rows

ROOMS = ("theory", "boosting", "online", "decision_lists", "trees", "growing", "closure", "queries", "privacy")
LEFT_OUT = ("VariableReplacer", "VariableInserter", "RemoveDecorator", "ExceptionReplacer", "Invert", "_Is")
"""Operators whose mutants do not run, or say nothing."""

ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Pow"}

SLOWER = 10.0
"""A mutant that takes so many times as long as the tests do, and a minute, runs for ever: it is noticed."""


@dataclass(frozen=True)
class Place:
    """Where an operator can change a file: the ``occurrence``-th of its places."""

    file: str
    operator: str
    occurrence: int

    def mutant(self, code: str) -> str | None:
        """The changed file; None if it does not compile, or the change cannot matter."""
        from cosmic_ray.mutating import mutate_code  # from the group "mutants", which tests need not have
        from cosmic_ray.plugins import get_operator

        changed = mutate_code(code, get_operator(self.operator)(), self.occurrence)
        try:
            return None if changed is None or what_matters(changed) == what_matters(code) else str(changed)
        except SyntaxError:
            return None


def difference(before: str, after: str) -> str:
    """The lines that differ."""
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if line[:3] not in {"---", "+++"})


@lru_cache(maxsize=1)
def equivalent() -> dict[tuple[str, str, str], str]:
    """By file, line, and what it was changed to: why that makes no difference that a test could see."""
    found = tomllib.loads((ROOT / "tools" / "equivalent_mutants.toml").read_text("utf-8"))["mutant"]
    return {(one["file"], one["line"], one["changed"]): one["why"] for one in found}


def is_equivalent(file: str, code: str, mutant: str) -> bool:
    """Whether all lines that a mutant changes are known to make no difference."""
    lines = difference(code, mutant).splitlines()
    before, after = ([line[1:].strip() for line in lines if line[0] == sign] for sign in "-+")
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all((file, *pair) in equivalent() for pair in pairs)


def what_matters(code: str) -> str:
    """The program without annotations, docstrings, the words of errors, and whether dataclasses are frozen."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dataclass":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "frozen"]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.dump(tree)


def wanted(operator: str) -> bool:
    """Whether an operator's mutants run, and say something: arithmetic is replaced by arithmetic."""
    name = operator.split("/")[1]
    parts = name.split("_")
    if parts[0] == "ReplaceBinaryOperator":
        return set(parts[1:]) <= ARITHMETIC
    return not any(word in name for word in LEFT_OUT)


def nodes_of(node: Any) -> Iterator[Any]:
    """A syntax tree in the order in which cosmic-ray counts."""
    yield node
    for child in getattr(node, "children", ()):
        yield from nodes_of(child)


def places_of(file: str, code: str) -> list[Place]:
    """All places of a file."""
    from cosmic_ray.ast import get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes, found = list(nodes_of(get_ast(code))), []
    for name in filter(wanted, operator_names()):
        operator = get_operator(name)()
        count = sum(1 for node in nodes for _ in operator.mutation_positions(node))
        found += [Place(file, name, occurrence) for occurrence in range(count)]
    return found


def tests_of(file: str) -> tuple[list[str], list[str]]:
    """The tests that the papers page names for a file, and those of its room."""
    named = sorted({row.test for row in rows() if file in row.file})
    room = ROOT / "tests" / Path(file).relative_to("src/tacit").parts[0]
    nested = room / Path(file).relative_to("src/tacit").parts[1]
    whole = sorted(
        {test.split("::")[0] for test in named} | {str(p.relative_to(ROOT)) for p in (nested, room) if p.is_dir()}
    )
    return named, whole


class Bench:
    """A copy of the tree in which tests run.

    Args:
        python: the interpreter that has the library's dependencies.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder
        self._usual: dict[tuple[str, ...], float] = {}
        for part in ("src", "tests", "tools", "benchmarks", "docs", "pyproject.toml", "README.md"):
            source, target = ROOT / part, folder / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "results"))
            else:
                shutil.copy(source, target)
        paths = f"{folder / 'src'}{os.pathsep}{folder}"
        self.environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}

    def usual(self, tests: list[str]) -> float:
        """The seconds that tests of the unchanged tree may take as a mutant's."""
        key = tuple(tests)
        if key and key not in self._usual:
            start = time.monotonic()
            if not self.passes(tests):
                raise SystemExit(f"the tests fail as they are: {' '.join(tests)}")
            self._usual[key] = 60.0 + SLOWER * (time.monotonic() - start)
        return self._usual.get(key, 0.0)

    def passes(self, tests: list[str], seconds: float | None = None) -> bool:
        """Whether tests pass, in that time."""
        command = [
            self.python,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow and not bench",
            *tests,
        ]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self.environment, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Goes through mutants of the files asked for until the time is up."""
    chosen = [str(p.relative_to(ROOT)) for part in arguments.parts for p in files_of(part)]
    codes = {file: (ROOT / file).read_text("utf-8") for file in chosen}
    places = [place for file, code in codes.items() for place in places_of(file, code)]
    random.Random(arguments.seed).shuffle(places)
    print(f"{len(places)} places in {len(chosen)} files", flush=True)
    end = time.monotonic() + 60 * arguments.minutes
    survived = by_name = done = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.python, Path(folder))
        for place in places:
            if time.monotonic() > end:
                break
            code = codes[place.file]
            mutant = place.mutant(code)
            if mutant is None or is_equivalent(place.file, code, mutant):
                continue
            named, room = tests_of(place.file)
            limits = [bench.usual(tests) for tests in (named, room)]
            (bench.folder / place.file).write_text(mutant, "utf-8")
            found_by_name = bool(named) and not bench.passes(named, limits[0])
            alive = not found_by_name and bench.passes(room, limits[1])
            (bench.folder / place.file).write_text(code, "utf-8")
            done, by_name, survived = done + 1, by_name + found_by_name, survived + alive
            if not found_by_name:
                word = "SURVIVED" if alive else "killed by a neighbour"
                print(f"{word} {place.file} {place.operator}\n{difference(code, mutant)}", flush=True)
    return {"mutants": done, "killed": done - survived, "killed_by_name": by_name, "survived": survived}


def files_of(part: str) -> list[Path]:
    """The modules of a room, or one module, below ``src/tacit``."""
    place = ROOT / "src" / "tacit" / part
    found = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not all(path.is_file() for path in found):
        raise SystemExit(f"there is no room and no module {part}")
    return [path for path in found if path.name != "__init__.py"]


def main() -> int:
    """Reads the command line and prints what survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(ROOMS), help="rooms, or modules such as theory/trees")
    parser.add_argument("--minutes", type=float, default=30.0, help="the time budget")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv" / "bin" / "python", help="runs the tests")
    print(json.dumps(run(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
