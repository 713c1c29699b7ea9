"""Results that survive an interruption: a line of JSON per run, and what is there is not run again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import program, store
from benchmarks.store import Line


class Lines:
    """The lines of one benchmark, kept by :mod:`benchmarks.store`.

    Args:
        name: of the benchmark.
        again: whether to run even what is known; later lines stand in for earlier ones when the file is read.
        learner: the class whose program matters; None for any learner's.
    """

    def __init__(self, name: str, again: bool = False, learner: str | None = None) -> None:
        self._name, self._learner = name, learner
        self._known: dict[str, Line] = {}
        self._noted: set[str] = set()
        if not again:
            self._known = {_key(line["job"]): line for line in store.read(name)}

    def run(self, job: Mapping[str, Any], result: Callable[[], Mapping[str, Any]]) -> Line:
        """The result of a job, from the file or by running it; the job is JSON data and identifies itself."""
        key = _key(job)
        if key in self._known:
            self._note(self._known[key])
            return self._known[key]["result"]
        line = {"job": dict(job), "result": dict(result())}
        self._known[key] = line
        store.add(self._name, line)
        return line["result"]

    def _note(self, line: Line) -> None:
        """Says once that results which are shown are of another program, or of one that was not recorded."""
        made_by = program.made_by(line, self._learner)
        if made_by != program.THIS and made_by not in self._noted:
            self._noted.add(made_by)
            print(f"{self._name}: some results are those of {made_by}; see benchmarks/program.py", file=sys.stderr)

    def known(self, job: Mapping[str, Any]) -> bool:
        """Whether a job's result is there."""
        return _key(job) in self._known


def _key(job: Mapping[str, Any]) -> str:
    return json.dumps(job, sort_keys=True)
