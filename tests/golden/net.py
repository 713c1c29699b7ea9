"""The net: all cases by group, their digests in a file, and what is said when they part."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden import additive, answers, around, learners
from tests.golden.arithmetic import here, pinned, probe
from tests.golden.case import PARTS, Cases

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("digests.toml")

HEADER = """\
# Written by `python -m tests.golden --write`, never by hand: case -> digests of its model and of its ledger.
# A line may change in a commit that says why it had to; see CONTRIBUTING.md.
"""

GROUPS = {"additive": additive.cases, "learners": learners.cases, "around": around.cases, "answers": answers.cases}

Digests = dict[str, dict[str, str]]


@cache
def group(name: str) -> Cases:
    """The cases of a group."""
    return GROUPS[name]()


def all_cases() -> Cases:
    """The cases of every group."""
    return {name: case for each in GROUPS for name, case in group(each).items()}


def stored(file: Path = FILE) -> tuple[Digests, dict[str, str]]:
    """The digests in the file, and what their last bits depended on."""
    read: dict[str, Any] = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    return read.get("cases", {}), read.get("made_with", {})


def store(digests: Digests, file: Path = FILE) -> None:
    """Writes the file: one line a case, sorted."""
    with_what = [f"{name} = {json.dumps(value)}" for name, value in {**here(), "probe": probe()}.items()]
    lines = [
        f'"{name}" = {{ ' + ", ".join(f'{part} = "{found[part]}"' for part in PARTS) + " }"
        for name, found in sorted(digests.items())
    ]
    file.write_text("\n".join([HEADER, "[made_with]", *with_what, "", "[cases]", *lines]) + "\n", "utf-8")


class Server:
    """One process with the arithmetic of the digests, which runs one case after the other: imports are paid for once.

    Attributes:
        probe: of its arithmetic.
    """

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.golden", "--serve"],
            cwd=ROOT,
            env=pinned(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.probe: str = self._answer()

    def digests(self, name: str) -> dict[str, str]:
        """The digests of a case, run now; of one that fails, under ``error``, how."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(name) + "\n")
        self._process.stdin.flush()
        answer: dict[str, str] = self._answer()
        return answer

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"the process of the golden cases has ended:\n{self._errors.read()}")
        return json.loads(line)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()
        self._errors.close()


def moved(name: str, found: dict[str, str], before: Digests) -> list[str]:
    """Which parts of a case are not as stored."""
    return [part for part in PARTS if before.get(name, {}).get(part) != found[part]]


def message(moves: dict[str, list[str]], known: Iterable[str]) -> str:
    """What moved, how to look at it, and how to accept it."""
    known = set(known)
    lines = [f"  {' and '.join(parts) if name in known else 'new case'}: {name}" for name, parts in moves.items()]
    example = next(iter(moves))
    return "\n".join(
        [
            f"{len(moves)} of the golden cases moved:",
            *lines,
            "A change that is to leave results alone must not do that. To see what moved, run this here and on a tree",
            f"from before, and compare:  python -m tests.golden --show {example!r}",
            "To accept on purpose:  python -m tests.golden --write  and say in that commit why bits had to move.",
        ]
    )
