"""Runs the tests on every supported Python and on the lowest allowed versions, and prints a table of what they said.

``python -m tools.test_matrix`` makes one environment a row in ``.venv-matrix`` (with ``uv``, which fetches a Python
that is not there), runs pytest in it, one after the other, and writes what each said beside it.
``--only 3.13 lowest`` takes some rows; arguments behind ``--`` go to pytest: ``-- tests/noise -x``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-matrix"
USUAL = ["--dist", "loadfile", "--no-loadscope-reorder", "-m", "not slow and not bench"]
COUNTS = ("passed", "failed", "error", "skipped", "xfailed")


@dataclass(frozen=True)
class Row:
    """An environment: the Python in it, and how versions of dependencies are chosen."""

    name: str
    python: str
    resolution: str = "highest"


@dataclass(frozen=True)
class Result:
    """What the tests said in one environment."""

    row: Row
    version: str
    packages: str
    counts: dict[str, int]
    seconds: float
    verdict: str

    def line(self) -> str:
        """A row of the table."""
        counts = " | ".join(str(self.counts.get(kind, 0)) for kind in COUNTS)
        return (
            f"| {self.row.name} | {self.version} | {self.packages} | {counts} | {self.seconds:.0f} | {self.verdict} |"
        )


def rows_of(pyproject: str) -> list[Row]:
    """A row for every Python that the package says it supports, and one of the lowest versions on the oldest."""
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', pyproject)
    return [*(Row(version, version) for version in versions), Row("lowest", versions[0], "lowest-direct")]


def counts_of(summary: str) -> dict[str, int]:
    """The counts in the last line of pytest."""
    return {kind.removesuffix("s") if kind == "errors" else kind: int(number)
            for number, kind in re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed)", summary)}  # fmt: skip


def made(row: Row, place: Path) -> Path:
    """The Python of a new environment.

    Raises:
        subprocess.CalledProcessError: if uv finds no such Python, or no packages for it; ``stderr`` says why.
    """
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        raise SystemExit("uv is needed: pip install uv")
    python = place / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", "--python", python, "--resolution", row.resolution]
    for command in ([uv, "venv", "--quiet", "--python", row.python, "--clear", place],
                    [*install, "-e", ".[all]", "--group", "dev"]):  # fmt: skip
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return python


def run(row: Row, arguments: Sequence[str]) -> Result:
    """Makes an environment and runs pytest in it; its output goes into a file beside it."""
    place, begun = PLACE / row.name, time.monotonic()
    try:
        python = made(row, place)
    except subprocess.CalledProcessError as error:
        why = error.stderr.strip().splitlines() or ["no reason given"]
        return Result(row, "", "", {}, time.monotonic() - begun, f"no environment: {why[0]}")
    show = "import platform, numpy, sklearn; print(platform.python_version(), numpy.__version__, sklearn.__version__)"
    version, *packages = subprocess.run([python, "-c", show], check=True, capture_output=True, text=True).stdout.split()
    begun = time.monotonic()
    with (place / "pytest.txt").open("w+", encoding="utf-8") as output:
        command = [python, "-m", "pytest", *arguments]
        result = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        lines = output.read().splitlines()
    verdict = "passed" if result.returncode == 0 else f"exit status {result.returncode}"
    counts = counts_of(lines[-1] if lines else "")
    return Result(row, version, " / ".join(packages), counts, time.monotonic() - begun, verdict)


def main() -> int:
    """The table; the exit status is 1 if any row failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows = rows_of((ROOT / "pyproject.toml").read_text("utf-8"))
    parser.add_argument("--only", nargs="+", choices=[row.name for row in rows], help="some of the rows")
    parser.add_argument("--workers", default="3", help="of pytest; 0 for none")
    parser.add_argument("pytest", nargs="*", help="what pytest gets, behind --; by default the whole suite")
    arguments = parser.parse_args()
    workers = ["-n", arguments.workers] if arguments.workers != "0" else []
    print(f"| environment | Python | numpy / scikit-learn | {' | '.join(COUNTS)} | seconds | |")
    print("|---" * (len(COUNTS) + 5) + "|")
    results = []
    for row in rows:
        if arguments.only is None or row.name in arguments.only:
            results.append(run(row, [*workers, *USUAL, *arguments.pytest]))
            print(results[-1].line(), flush=True)
    return int(any(result.verdict != "passed" for result in results))


if __name__ == "__main__":
    sys.exit(main())
