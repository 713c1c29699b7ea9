"""The net: all cases by group, their digests in a file, and what is said when they part."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.golden import additive, around, learners
from tests.golden.case import PARTS, Cases, run

FILE = Path(__file__).with_name("digests.toml")

HEADER = """\
# Written by `python -m tests.golden --write`, never by hand: case -> digests of its model and of its ledger.
# A line may change in a commit that says why it had to; see CONTRIBUTING.md.
"""

GROUPS = {"additive": additive.cases, "learners": learners.cases, "around": around.cases}


@cache
def group(name: str) -> Cases:
    """The cases of a group."""
    return GROUPS[name]()


def all_cases() -> Cases:
    """The cases of every group."""
    return {name: case for each in GROUPS for name, case in group(each).items()}


def stored() -> dict[str, dict[str, str]]:
    """The digests in the file."""
    return tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def store(digests: dict[str, dict[str, str]]) -> None:
    """Writes the file: one line a case, sorted."""
    lines = [
        f'"{name}" = {{ ' + ", ".join(f'{part} = "{found[part]}"' for part in PARTS) + " }"
        for name, found in sorted(digests.items())
    ]
    FILE.write_text("\n".join([HEADER, *lines]) + "\n", "utf-8")


def measured(name: str) -> dict[str, str]:
    """The digests of a case, run now."""
    return run(all_cases()[name]).digests()


def moved(name: str, found: dict[str, str], before: dict[str, dict[str, str]]) -> list[str]:
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
