"""Breaks the library on purpose and says what no test notices: ``make mutants ARGS="theory --minutes 10"``.

cosmic-ray changes one place of a module at a time (a number, an operator, a comparison, a branch). The tests of its
room, and those that import the module, run once unchanged, to see which lines each of them runs. Of a mutant, those
that run the changed statement go first (of them, those that the papers page names for the module, then the fast), and
if all pass, the rest of their files, which may share what was made ready; where no test is seen to run the statement,
or the module has compiled kernels, all of them: a mutant that passes that as well is a survivor. With a time budget or
a number it is a random sample, the same for one seed. What cannot matter (annotations, docstrings, messages) is not
changed, nor what ``equivalent_mutants.toml`` says makes no difference. Everything happens in a copy of the tree.

The last line printed is one JSON object: mutants, killed, killed by a named test, survivors.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from tools.papers_page import ROOT, rows

ROOMS = (
    "theory", "boosting", "halfspaces", "online", "decision_lists", "trees", "growing", "closure", "queries", "privacy",
    "additive", "evaluation", "engines", "curator", "binning",
)  # fmt: skip
LEFT_OUT = ("VariableReplacer", "VariableInserter", "RemoveDecorator", "ExceptionReplacer", "Invert", "_Is")
"""Operators whose mutants do not run, or say nothing."""

ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Pow"}

MOST_IMPORTING = 5
"""Test files outside of a module's room; where more import it, they use it and do not mean it."""

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
    result = tomllib.loads((ROOT / "tools" / "equivalent_mutants.toml").read_text("utf-8"))["mutant"]
    return {(one["file"], one["line"], one["changed"]): one["why"] for one in result}


def is_equivalent(file: str, code: str, mutant: str) -> bool:
    """Whether all lines that a mutant changes are known to make no difference."""
    lines = difference(code, mutant).splitlines()
    before, after = ([line[1:].strip() for line in lines if line[0] == sign] for sign in "-+")
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all((file, *pair) in equivalent() for pair in pairs)


def what_matters(code: str) -> str:
    """The program without annotations, docstrings, words of errors, whether dataclasses are frozen and caches large."""
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
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"dataclass", "lru_cache"}
        ):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in {"frozen", "maxsize"}]
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

    nodes, results = list(nodes_of(get_ast(code))), []
    for name in filter(wanted, operator_names()):
        operator = get_operator(name)()
        count = sum(1 for node in nodes for _ in operator.mutation_positions(node))
        results += [Place(file, name, occurrence) for occurrence in range(count)]
    return results


@cache
def tests_of(file: str) -> tuple[list[str], list[str]]:
    """The tests that the papers page names for a file, and those of its room and those that import it, by file."""
    named = sorted({row.test for row in rows() if file in row.file})
    room = ROOT / "tests" / Path(file).relative_to("src/tacit").parts[0]
    importing = re.compile(rf"^ *from {re.escape(module_of(file))} import ", re.MULTILINE)
    inside, everywhere = (sorted(place.rglob("test_*.py")) for place in (room, ROOT / "tests"))
    outside = [p for p in everywhere if room not in p.parents and importing.search(p.read_text("utf-8"))]
    results = {str(path.relative_to(ROOT)) for path in inside + outside * (len(outside) <= MOST_IMPORTING)}
    return named, sorted(results | {test.split("::")[0] for test in named})


def module_of(file: str) -> str:
    """What a file below ``src`` is imported as."""
    return ".".join(Path(file).relative_to("src").with_suffix("").parts)


class Bench:
    """A copy of the tree in which tests run.

    Args:
        python: the interpreter that has the library's dependencies.
        files: what will be changed.
    """

    def __init__(self, python: Path, folder: Path, files: list[str]) -> None:
        self.python, self.folder = python, folder
        for part in ("src", "tests", "tools", "benchmarks", "docs", "pyproject.toml", "README.md"):
            source, target = ROOT / part, folder / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "results"))
            else:
                shutil.copy(source, target)
        self.environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
        noted = folder / "touched_lines.json"
        tests = sorted({test for file in files for test in tests_of(file)[1]})
        options = ["-p", "tools.touched_lines", f"--lines-to={noted}", *(f"--lines-of={file}" for file in files)]
        self.first_failure([*options, "--maxfail=0", *tests])
        document: dict[str, Any] = json.loads(noted.read_text("utf-8"))
        self.touched = {test: seen for test, seen in document.items() if not seen["failed"]}
        self.fail_unchanged = sorted(document.keys() - self.touched.keys())  # by the clock, on a busy machine
        if len(self.fail_unchanged) >= len(self.touched):
            raise SystemExit(f"the tests fail as they are: {' '.join(tests)}")
        for test in self.fail_unchanged:
            print(f"left out, as it fails unchanged: {test}", flush=True)

    def killer(self, file: str, mutant: str, lines: range) -> str | None:
        """The first test that fails with a mutant: of those that run its lines, then of what may depend on them."""
        path = self.folder / file
        before = path.read_text("utf-8")
        path.write_text(mutant, "utf-8")
        Path(cache_from_source(str(path))).unlink(missing_ok=True)  # it knows a file by its size and whole seconds
        try:
            tests = fast_tests(self.touched, file, lines, tests_of(file)[0])
            failed = self.first_failure(tests, self._limit(tests)) if tests else None
            if failed:
                return failed
            left_out = [f"--deselect={test}" for test in self.fail_unchanged]
            if self._seen(file, lines) and "njit" not in before:
                whole = {test.partition("::")[0] for test in tests}
                limit = self._limit(test for test in self.touched if test.partition("::")[0] in whole)
                return self.first_failure([*sorted(whole), *left_out], limit)
            # Kernels of other modules may have been compiled with what was changed: the room compiles its own.
            with tempfile.TemporaryDirectory() as compiled:
                room = [*tests_of(file)[1], *left_out]
                return self.first_failure(room, self._limit(self.touched), NUMBA_CACHE_DIR=compiled)
        finally:
            path.write_text(before, "utf-8")

    def _seen(self, file: str, lines: range) -> bool:
        """Whether any test was seen to run one of these lines."""
        return any(not set(seen["lines"].get(file, ())).isdisjoint(lines) for seen in self.touched.values())

    def _limit(self, tests: Iterable[str]) -> float:
        """The seconds that tests may take with a mutant."""
        return 60.0 + SLOWER * sum(self.touched[test]["seconds"] for test in tests)

    def first_failure(self, tests: list[str], seconds: float | None = None, **environment: str) -> str | None:
        """The first test that fails, or takes too long; None where all pass."""
        command = [
            self.python,
            "-m",
            "pytest",
            "-qx",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow and not bench",
        ]
        try:
            outcome = subprocess.run(
                [*command, *tests],
                cwd=self.folder,
                env=self.environment | environment,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "the clock"
        result = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", outcome.stdout, re.MULTILINE)
        return None if outcome.returncode == 0 else next(iter(result), outcome.stdout[-200:] + outcome.stderr[-200:])


def fast_tests(touched: dict[str, Any], file: str, lines: range, named: list[str]) -> list[str]:
    """The tests that run some of the lines, or else some of the file: those that the page names, then the fast."""
    runs = {test: set(seen["lines"].get(file, ())) for test, seen in touched.items()}
    result = [test for test, seen in runs.items() if not seen.isdisjoint(lines)] or [t for t in runs if runs[t]]
    return sorted(result, key=lambda test: (not is_one_of(test, named), touched[test]["seconds"]))


def is_one_of(test: str, named: list[str]) -> bool:
    """Whether a test, or the file it stands in, is one that the page names."""
    function = test.partition("[")[0]
    return any(function == name.partition("[")[0] or name.startswith(f"{test}::") for name in named)


def statement_at(code: str, line: int) -> range:
    """The lines of the innermost statement around a line, without the statements in it."""
    around = ast.parse(code).body[0]
    for node in ast.walk(ast.parse(code)):  # outer ones first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            around = node
    inner = getattr(around, "body", None)
    return range(around.lineno, inner[0].lineno if inner else (around.end_lineno or 0) + 1)


def run(arguments: argparse.Namespace) -> dict[str, object]:
    """Goes through mutants of the files asked for until the time is up, or there are enough."""
    chosen = [str(p.relative_to(ROOT)) for part in arguments.parts for p in files_of(part)]
    codes = {file: (ROOT / file).read_text("utf-8") for file in chosen}
    places = [place for file, code in codes.items() for place in places_of(file, code)]
    random.Random(arguments.seed).shuffle(places)
    print(f"{len(places)} places in {len(chosen)} files", flush=True)
    survived = by_name = result = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.python, Path(folder), chosen)
        end = time.monotonic() + 60 * arguments.minutes
        for place in places:
            if time.monotonic() > end or result == arguments.number:
                break
            code = codes[place.file]
            mutant = place.mutant(code)
            if mutant is None or is_equivalent(place.file, code, mutant):
                continue
            pairs = zip(code.splitlines(), mutant.splitlines(), strict=False)
            changed = next(number for number, (old, new) in enumerate(pairs, 1) if old != new)
            killer = bench.killer(place.file, mutant, statement_at(code, changed))
            found_by_name = killer is not None and is_one_of(killer, tests_of(place.file)[0])
            result, by_name, survived = result + 1, by_name + found_by_name, survived + (killer is None)
            if not found_by_name:
                word = "SURVIVED" if killer is None else f"killed by {killer}:"
                print(f"{word} {place.file} {place.operator}\n{difference(code, mutant)}", flush=True)
    return {"mutants": result, "killed": result - survived, "killed_by_name": by_name, "survived": survived}


def files_of(part: str) -> list[Path]:
    """The modules of a room, or one module, below ``src/tacit``."""
    place = ROOT / "src" / "tacit" / part
    result = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    if not all(path.is_file() for path in result):
        raise SystemExit(f"there is no room and no module {part}")
    return [path for path in result if path.name != "__init__.py"]


def main() -> int:
    """Reads the command line and prints what survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(ROOMS), help="rooms, or modules such as theory/trees")
    parser.add_argument("--minutes", type=float, default=30.0, help="the time budget")
    parser.add_argument("--number", type=int, help="of mutants at most; without it, as many as there is time for")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--python", type=Path, default=ROOT / ".venv" / "bin" / "python", help="runs the tests")
    print(json.dumps(run(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
