"""Which program made a result: digests of the golden fits of each learner (``tests/golden/digests.toml``).

They change when the models or the ledger of a learner do, and stay when its sources are only written anew. Every line
that is stored has the digest of all of them; ``results/programs.json`` says what it was of each learner.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "tests" / "golden" / "digests.toml"
PROGRAMS = HERE / "results" / "programs.json"
DIGITS = 12
"""Of a digest, in hexadecimal."""

THIS, ANOTHER, UNKNOWN = "this program", "another program", "a program that was not recorded"


def programs(golden: str) -> dict[str, str]:
    """The digest of each learner's golden fits, by its class, from the text of their file."""
    parts: dict[str, list[str]] = defaultdict(list)
    for case, digests in tomllib.loads(golden)["cases"].items():
        parts[case.split(":")[0]].append(f"{case} {sorted(digests.items())}")
    return {learner: _digest("\n".join(sorted(cases))) for learner, cases in sorted(parts.items())}


@cache
def current() -> dict[str, str]:
    """The digests of this tree."""
    return programs(GOLDEN.read_text("utf-8"))


def name() -> str:
    """The digest of the whole program, which a line is stored with; what it stands for is written down."""
    digest = _digest(json.dumps(current(), sort_keys=True))
    stored = known()
    if digest not in stored:
        PROGRAMS.write_text(json.dumps({**stored, digest: current()}, indent=1) + "\n")
    return digest


def known() -> dict[str, dict[str, str]]:
    """The programs that lines were stored with."""
    return json.loads(PROGRAMS.read_text("utf-8")) if PROGRAMS.exists() else {}


def made_by(line: dict[str, Any], learner: str | None = None) -> str:
    """Whether a line was made by this program, as far as a learner goes; by default by any learner's."""
    then = known().get(line.get("program", ""))
    if then is None:
        return UNKNOWN
    if learner is not None:
        return THIS if then.get(learner) == current().get(learner) else ANOTHER
    return THIS if then == current() else ANOTHER


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
