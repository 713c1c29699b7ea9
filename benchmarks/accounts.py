"""Reservations of many writers under one account: none lost, none too many, and what a long history costs.

    python -m benchmarks.accounts --writers 32 --reservations 10000
    python -m benchmarks.accounts --writers 32 --reservations 10000 --url postgresql:///accounts

Every writer reserves, enters a release and closes, again and again; the account pays for nine of ten reservations. Then
one writer does the same beside 10 lines of history, and beside as many.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tacit.privacy.account import PrivacyAccount
from tacit.privacy.accountants import epsilon
from tacit.privacy.charges import Pure
from tacit.privacy.ledger import AccountError, BudgetExceeded

UNIT = Pure(2.0**-20)
"""A cost whose sums are exact."""

FREE = Pure(0.0)
"""What an account pays for that has spent all: decided and written as everything else."""


def write(url: str, dataset: str, times: int, answers: Any) -> None:
    """Reserves and closes; says how often it was paid, refused and failed, and the longest wait."""
    account, seen, longest, errors = PrivacyAccount(url, dataset), Counter[str](), 0.0, []
    for number in range(times):
        begun = time.perf_counter()
        try:
            with account.reserve([UNIT], f"reservation {number}") as paid:
                paid.record(UNIT, "a release", "a theorem")
            seen["paid"] += 1
        except BudgetExceeded:
            seen["refused"] += 1
        except AccountError as error:
            seen["failed"] += 1
            errors.append(str(error))
        longest = max(longest, time.perf_counter() - begun)
    answers.put((seen, longest, errors[:1]))


def contend(url: str, writers: int, times: int) -> PrivacyAccount:
    """An account after ``times`` reservations; prints what became of them."""
    dataset, pays = f"contended {time.time()}", times * 9 // 10
    account = PrivacyAccount.create(url, dataset, pays * UNIT.epsilon, 0.0)
    context = multiprocessing.get_context("fork")
    answers, begun = context.Queue(), time.perf_counter()
    shares = [times // writers + (place < times % writers) for place in range(writers)]
    processes = [context.Process(target=write, args=(url, dataset, share, answers)) for share in shares]
    for process in processes:
        process.start()
    results = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    seconds, lines = time.perf_counter() - begun, account.reservations()
    seen: Counter[str] = sum((one for one, _, _ in results), Counter())
    print(
        json.dumps(
            {
                "writers": writers,
                **seen,
                "promised units": pays,
                "spent units": account.spent / UNIT.epsilon,
                "lines": dict(Counter(line.status for line in lines)),
                "entries": sum(len(line.entries) for line in lines),
                "seconds": round(seconds, 1),
                "longest wait": round(max(longest for _, longest, _ in results), 2),
                "errors": sorted({error for _, _, errors in results for error in errors}),
            }
        ),
        flush=True,
    )
    return account


def milliseconds(account: PrivacyAccount) -> float:
    """Of the processor, for a reservation and its closing: the median of 40."""
    taken = []
    for _ in range(40):
        begun = time.process_time()
        account.reserve([FREE], "a fit").close()
        taken.append(time.process_time() - begun)
    return 1000 * sorted(taken)[20]


def compare(url: str, long: PrivacyAccount) -> None:
    """Prints what a reservation costs beside 10 lines of history, and in an account of many."""
    short = PrivacyAccount.create(url, f"short {time.time()}", 1.0, 0.0)
    for _ in range(10):
        short.reserve([UNIT], "a fit").close()
    lines, times = len(long.charges), [milliseconds(short), milliseconds(long)]
    print(f"{times[0]:.1f} ms of the processor at 10 lines, {times[1]:.1f} at {lines:,}: {times[1] / times[0]:.2f}")
    print(f"the total costs what the history costs: {long.spent == epsilon(long.charges, long.delta)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of an empty database; by default a new SQLite file")
    parser.add_argument("--directory", help="of the SQLite file")
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--reservations", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        url = arguments.url or str(Path(folder) / "account.db")
        compare(url, contend(url, arguments.writers, arguments.reservations))


if __name__ == "__main__":
    main()
