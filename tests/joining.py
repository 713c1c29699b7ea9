"""Sites in threads of this process, on the loopback: what tests of joined fits share."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

import tacit
from tacit.curator.sites.parties import COORDINATOR, new_party

NAMES = ("north", "south", "west")

MORE_NAMES = (*NAMES, "east")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def make_parties(place: Path, names: Sequence[str] = NAMES) -> Path:
    """Keys and certificates of a coordinator and sites; returns the folder of certificates."""
    for name in (COORDINATOR, *names):
        new_party(name, place / f"{name}.key", place / "parties")
    return place / "parties"


def cut(rows: pd.DataFrame, place: Path, cuts: Sequence[int] = (1000, 1013), parts: int = 1) -> dict[str, Path]:
    """The rows of sites, one more than there are cuts, as files or folders: of three many, hardly any, and many."""
    results = {}
    for name, start, stop in zip(MORE_NAMES, (0, *cuts), (*cuts, len(rows)), strict=False):
        results[name], own = place / f"{name}.parquet", rows.iloc[start:stop]
        if parts == 1:
            own.to_parquet(results[name], index=False)
            continue
        results[name].mkdir()
        for number in range(parts):
            own.iloc[number::parts].to_parquet(results[name] / f"{number:02}.parquet", index=False)
    return results


class Joined:
    """A coordinator's side of sites that serve in threads.

    Attributes:
        sites: for ``fit``.
        ended: by site, what it was to it: a visit, or the error.
    """

    def __init__(self, sites: Any) -> None:
        self.sites = sites
        self.ended: dict[str, Any] = {}


@contextmanager
def joined(
    place: Path, files: dict[str, Path], schema: Any, serve: Callable[..., Any] = tacit.serve_site, **agreed: Any
) -> Iterator[Joined]:
    """Sites that serve these files. What they agree to is for tests, unless it is given."""
    parties, address = place / "parties", f"127.0.0.1:{free_port()}"
    changed = {"allow_changed_parties": True, "allow_changed_rows": True}
    usual = {"epsilon": 100.0, "allow_seeded": True, "wait": 30, **changed}
    honest = agreed.get("honest")
    sites = tacit.join_sites(
        address, parties=parties, key=place / "coordinator.key", honest=honest, wait=30, patience=60
    )
    made = Joined(sites)

    def run(name: str) -> None:
        try:
            made.ended[name] = serve(
                files[name], schema, connect=address, parties=parties, key=place / f"{name}.key", **usual | agreed
            )
        except Exception as error:  # noqa: BLE001 - what a test asks about
            made.ended[name] = error

    threads = [threading.Thread(target=run, args=(name,)) for name in files]
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        for thread in threads:
            thread.join(60)
