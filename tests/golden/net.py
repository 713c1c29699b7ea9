"""The net: all cases by group, their digests in a file, and what is said when they part."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
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


def run_pinned(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command of the net, in a process with the arithmetic of the digests."""
    command = [sys.executable, "-m", "tests.golden", *arguments]
    return subprocess.run(command, cwd=ROOT, env=pinned(), capture_output=True, text=True, check=False)


def measured(names: Sequence[str]) -> tuple[Digests, str]:
    """The digests of these cases, run now in a process of their own, and its probe.

    A case that failed has no digests, but says under ``error`` how.
    """
    done = run_pinned("--digests", json.dumps(list(names)))
    if done.returncode:
        raise RuntimeError(f"the net could not be run:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found["cases"], found["probe"]


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
