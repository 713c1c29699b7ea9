"""What rounds of a cluster carry, and how long fits would take: `python -m benchmarks.cluster_rounds`.

Fits the default learner to generated files of a million rows (:mod:`benchmarks.scale`) through workers of this process,
and counts: messages, their bytes, bytes that come back, the processor's seconds. Two sizes give the seconds per row and
what a fit takes whatever the rows. From these, for ``--rows``, ``--workers`` of one thread each, ``--latency``, and
``--bandwidth`` of the curator's network: ``rows x seconds per row / workers`` + rounds x latency + workers x bytes of
all messages and answers / bandwidth + what does not depend on rows. This supposes that parts are of one size, that no
worker waits for a disk, and that seconds per row stay what they are: that codes fit into the workers' memory, at the
bytes a row that are printed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.scale import generate, schema
from tacit.engines.cluster.rounds import Rounds
from tacit.engines.cluster.work import Answers, Errand, Holder

GENERATED = 20
"""Columns of the generated tables."""

CODES = 2 * GENERATED + 10
"""Bytes a row that a worker holds: codes of two bytes, the label, the margin, a leaf and the like."""


class Counted(Rounds):
    """One worker that holds all parts, in this process, and what went to and fro."""

    def __init__(self, parts: Any) -> None:
        super().__init__(parts)
        self.sent_bytes = self.answered_bytes = self.largest = 0
        self._holder, self._places = Holder(1), frozenset(range(len(parts)))

    def sent(self, places: frozenset[int], first: int, sends: bool, together: bool) -> tuple[Answers, frozenset[int]]:
        parts = {place: self.parts[place] if sends else None for place in places}
        answers = self._holder.answer(Errand(parts, first, self.history[first:], self._places, together))
        if answers.failure is not None:
            raise answers.failure
        size = sum(found.nbytes for found in [*answers.each.values(), answers.sums] if found is not None)
        self.sent_bytes += sum(map(len, self.history[first:]))
        self.answered_bytes, self.largest = self.answered_bytes + size, max(self.largest, size)
        return answers, frozenset()

    def close(self) -> None:
        """Nothing is to be let go."""


def counted(place: Path, rows: int, epsilon: float) -> tuple[Counted, float]:
    """A fit to so many rows: what was counted, and the processor's seconds."""
    import tacit

    made: list[Counted] = []

    def workers(parts: Any) -> Counted:
        made.append(Counted(parts))
        return made[0]

    source = tacit.read_source(generate(place, rows, GENERATED), engine="workers", cluster=workers)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tacit.AdditiveBoostClassifier(epsilon=epsilon, schema=schema(GENERATED), random_state=0).fit(source)
    return made[0], time.process_time() - start


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=int, nargs=2, default=[1_000_000, 4_000_000], metavar="ROWS")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e8, 1e9, 1e10])
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 16, 128])
    parser.add_argument("--latency", type=float, default=0.01, help="seconds of a round, beside its work")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes a second of the curator's network")
    parser.add_argument("--epsilon", type=float, default=1.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        counted(Path(place), 2_000, args.epsilon)  # kernels are compiled
        results = [counted(Path(place), rows, args.epsilon) for rows in args.measured]
    for rows, (rounds, used) in zip(args.measured, results, strict=True):
        print(
            f"{rows:,} rows: {len(rounds.history)} rounds, {rounds.sent_bytes:,} bytes sent, "
            f"{rounds.answered_bytes:,} bytes back (at most {rounds.largest:,} in one), {used:.1f} processor seconds"
        )
    (small, large), ((_, less), (rounds, more)) = args.measured, results
    per_row = (more - less) / (large - small)
    fixed = max(less - per_row * small, 0.0)
    print(f"{per_row * 1e6:.2f} microseconds a row, {fixed:.1f} seconds whatever the rows")
    print("| rows | " + " | ".join(f"{workers} workers" for workers in args.workers) + " |")
    print("|---" * (1 + len(args.workers)) + "|")
    for rows in args.rows:
        cells = []
        for workers in args.workers:
            carried = workers * (rounds.sent_bytes + rounds.answered_bytes) / args.bandwidth
            seconds = rows * per_row / workers + len(rounds.history) * args.latency + carried + fixed
            cells.append(f"{seconds:,.0f} s, {rows * CODES / workers / 2**30:,.1f} GiB each")
        print(f"| {rows:,.0f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
