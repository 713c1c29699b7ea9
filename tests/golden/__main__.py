"""``python -m tests.golden``: runs the net without pytest; ``--write`` accepts what moved, ``--show`` prints a case."""

from __future__ import annotations

import argparse
import sys
import time

from tests.golden.case import canonical, run
from tests.golden.net import all_cases, measured, message, moved, store, stored


def main() -> int:
    """Runs the cases whose names contain a text; 1 if any moved and was not accepted."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="of the names of the cases to run; all by default")
    parser.add_argument("--write", action="store_true", help="accept what moved, and forget cases that are gone")
    parser.add_argument("--show", metavar="NAME", help="print what the digests of one case are made from")
    parser.add_argument("--times", action="store_true", help="print how long every case takes")
    asked = parser.parse_args()
    if asked.show is not None:
        seen = run(all_cases()[asked.show])
        print(canonical({"model": seen.model, "ledger": seen.ledger}, indent=1))
        return 0
    before, known = stored(), all_cases()
    moves, now = {}, {name: line for name, line in before.items() if name in known}
    for name in known:
        if asked.part in name:
            began = time.perf_counter()
            now[name] = measured(name)
            if asked.times:
                print(f"{time.perf_counter() - began:6.2f} s  {name}", flush=True)
            if parts := moved(name, now[name], before):
                moves[name] = parts
    print(message(moves, before) if moves else "nothing moved")
    if asked.write:
        store(now)
        print(f"{len(now)} cases written, {len(before.keys() - now.keys())} forgotten")
    return int(bool(moves) and not asked.write)


if __name__ == "__main__":
    sys.exit(main())
