"""Results that survive an interruption: a line of JSON per run, and what is there is not run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
Line = dict[str, Any]


class Lines:
    """The lines of one benchmark: ``benchmarks/results/NAME.jsonl``.

    Args:
        name: of the file.
        again: whether to run even what is known; later lines stand in for earlier ones when the file is read.
    """

    def __init__(self, name: str, again: bool = False) -> None:
        self.path = FOLDER / f"{name}.jsonl"
        self._known: dict[str, Line] = {}
        if self.path.exists() and not again:
            for text in self.path.read_text().splitlines():
                line = json.loads(text)
                self._known[_key(line["job"])] = line

    def run(self, job: Mapping[str, Any], result: Callable[[], Mapping[str, Any]]) -> Line:
        """The result of a job, from the file or by running it; the job is JSON data and identifies itself."""
        key = _key(job)
        if key in self._known:
            return self._known[key]["result"]
        line = {"job": dict(job), "result": dict(result())}
        self._known[key] = line
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line["result"]

    def known(self, job: Mapping[str, Any]) -> bool:
        """Whether a job's result is there."""
        return _key(job) in self._known


def _key(job: Mapping[str, Any]) -> str:
    return json.dumps(job, sort_keys=True)
