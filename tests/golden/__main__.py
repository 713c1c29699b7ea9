"""``python -m tests.golden``: runs the net without pytest; ``--write`` accepts what moved, ``--show`` prints a case."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

from tests.golden.arithmetic import is_pinned, pinned, probe


def main() -> int:
    """Runs the cases whose names contain a text; 1 if any moved and was not accepted."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="of the names of the cases to run; all by default")
    parser.add_argument("--write", action="store_true", help="accept what moved, and forget cases that are gone")
    parser.add_argument(
        "--file", type=Path, help="of digests, instead of those in the repository: to compare two trees"
    )
    parser.add_argument("--show", metavar="NAME", help="print what the digests of one case are made from")
    parser.add_argument("--times", action="store_true", help="print how long every case takes")
    parser.add_argument("--serve", action="store_true", help="read names, print digests, a line each: for the tests")
    asked = parser.parse_args()
    if not is_pinned():
        return subprocess.run(
            [sys.executable, "-m", "tests.golden", *sys.argv[1:]], env=pinned(), check=False
        ).returncode
    if asked.show is not None:
        return show(asked.show)
    if asked.serve:
        return serve()
    return compare(asked.part, asked.write, asked.times, asked.file)


def show(name: str) -> int:
    """Prints what came out of a case."""
    from tests.golden.case import canonical, run
    from tests.golden.net import all_cases

    seen = run(all_cases()[name])
    print(canonical({"model": seen.model, "ledger": seen.ledger}, indent=1))
    return 0


def serve() -> int:
    """Prints the probe of the arithmetic, then the digests of every case whose name is read, until none comes."""
    from tests.golden.case import run
    from tests.golden.net import all_cases
    from tests.workers import take_turns

    take_turns()  # the tests that run meanwhile compile the same kernels
    print(json.dumps(probe()), flush=True)
    for line in sys.stdin:
        try:
            digests = run(all_cases()[json.loads(line)]).digests()
        except Exception:  # noqa: BLE001 - the test of this case fails, and the others go on
            digests = {"error": traceback.format_exc()}
        print(json.dumps(digests), flush=True)
    return 0


def compare(part: str, write: bool, times: bool, file: Path | None) -> int:
    """Runs cases, says what moved, and stores their digests if that is asked for."""
    from tests.golden.case import run
    from tests.golden.net import FILE, all_cases, message, moved, store, stored

    file = file or FILE
    before, made_with = stored(file)
    known = all_cases()
    if before and made_with.get("probe") != probe():
        print("the arithmetic of this machine is not that of the stored digests: anything may have moved")
    moves, now = {}, {name: found for name, found in before.items() if name in known}
    for name in (name for name in known if part in name):
        began = time.perf_counter()
        now[name] = run(known[name]).digests()
        if times:
            print(f"{time.perf_counter() - began:6.2f} s  {name}", flush=True)
        if parts := moved(name, now[name], before):
            moves[name] = parts
    if write:
        store(now, file)
    print(message(moves, before) if moves else "nothing moved")
    if write:
        print(f"{len(now)} cases written, {len(before.keys() - now.keys())} forgotten")
    return int(bool(moves) and not write)


if __name__ == "__main__":
    sys.exit(main())
