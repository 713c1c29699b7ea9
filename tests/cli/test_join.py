"""One model from three sites, in processes of their own on the loopback; and a site that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tacit
from tacit.audit import verify_tape
from tacit.cli.main import app
from tests import forked
from tests.cli.conftest import SCHEMA, rows
from tests.joining import free_port

NAMES = ("north", "south", "west")


class Hospital:
    """Files of a coordinator and three sites, and what they run, in forks of a process that has all loaded."""

    forks = True

    def __init__(self, place: Path) -> None:
        self.place = place
        self.address = f"127.0.0.1:{free_port()}"
        (place / "schema.toml").write_text(SCHEMA)
        (place / "rows.csv").write_text(rows(900))
        head, *lines = rows(900).splitlines()
        for name, part in zip(NAMES, (lines[:500], lines[500:510], lines[510:]), strict=True):
            (place / f"{name}.csv").write_text("\n".join([head, *part]) + "\n")
        for name in ("coordinator", *NAMES):
            assert self.party(name, f"{name}.key").exit_code == 0

    def party(self, name: str, key: str, *more: str) -> Any:
        """Makes a key, in this process: only what speaks to others needs one of its own."""
        return self.here("party", name, f"--parties={self.place}/parties", f"--key={self.place}/{key}", *more)

    def here(self, *arguments: str) -> Any:
        return CliRunner().invoke(app, arguments, catch_exceptions=False)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = ["tacit"] if self.forks else [sys.executable, "-m", "tacit"]
        own = forked.environment() if self.forks else None
        return subprocess.Popen(
            [*command, *arguments], cwd=self.place, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def site(self, name: str, *more: str) -> subprocess.Popen[str]:
        own = ("--parties", "parties", "--key", f"{name}.key", "--connect", self.address, "--schema", "schema.toml")
        return self.start("site", f"{name}.csv", *own, "--record", f"{name}.jsonl", "--wait", "60", "--json", *more)

    def join(self, *more: str) -> subprocess.Popen[str]:
        own = ("--parties", "parties", "--key", "coordinator.key", "--listen", self.address, "--schema", "schema.toml")
        return self.start("join", *own, "--learner", "forest", "--model", "joined.json", "--json", *more)


@pytest.fixture(autouse=True)
def _short() -> None:
    """Fits in other processes have all rounds, and so has the one that is compared with them."""


@pytest.fixture
def hospital(tmp_path: Path) -> Hospital:
    return Hospital(tmp_path)


def ended(process: subprocess.Popen[str]) -> tuple[int, Any]:
    out, err = process.communicate(timeout=300)
    assert out.strip(), err
    return process.returncode, json.loads(out)


def model(path: Path) -> Any:
    written = json.loads(path.read_text())
    written["certificate"] = None
    return written


def test_three_processes_learn_the_model_of_all_rows(hospital: Hospital) -> None:
    place = hospital.place
    sites = [hospital.site(name, "--allow-seeded", "--certificate", f"{name}.json") for name in NAMES]
    code, said = ended(hospital.join("--random-state", "3", "--certificate", "fit.json", "--tape", "fit.tape"))
    assert (code, said["written"]["model"]) == (0, "joined.json")
    for name, process in zip(NAMES, sites, strict=True):
        code, visit = ended(process)
        assert code == 0
        assert visit["algorithm"] == "RandomTreesClassifier"
        assert visit["answers"] == len((place / f"{name}.jsonl").read_text().splitlines())
    files = (f"--schema={place}/schema.toml", "--learner=forest", f"--model={place}/pooled.json")
    assert hospital.here("fit", f"{place}/rows.csv", *files, "--random-state=3").exit_code == 0
    assert model(place / "joined.json") == model(place / "pooled.json")
    assert verify_tape(place / "joined.json", place / "fit.tape").problems == ()
    kept = tacit.Certificate.from_json((place / "west.json").read_text())
    fit = tacit.Certificate.from_json((place / "fit.json").read_text())
    assert kept.verify() == fit.verify() == []
    assert kept.entries == fit.entries


@pytest.mark.slow
def test_a_site_that_is_killed_is_named_and_the_ledgers_are_right(hospital: Hospital) -> None:
    place, hospital.forks = hospital.place, False  # the process that is killed is that of the site
    for name in ("coordinator", "north", "south"):
        tacit.PrivacyAccount.create(f"sqlite:///{place}/{name}.db", "rows", 3.0, 1e-6)

    def account(name: str) -> tuple[str, ...]:
        return ("--account", f"sqlite:///{name}.db", "--dataset", "rows")

    sites = {name: hospital.site(name, *account(name)) for name in ("north", "south")}
    sites["west"] = hospital.site("west")
    coordinator = hospital.join(*account("coordinator"))
    record, deadline = place / "west.jsonl", time.monotonic() + 120
    while not record.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(sites["west"].pid, signal.SIGKILL)
    code, said = ended(coordinator)
    assert code == 2
    assert "site 'west' dropped out after" in said["error"]["message"]
    assert "The charge stands" in said["error"]["message"]
    sites.pop("west").wait()
    for process in sites.values():
        code, said = ended(process)
        assert code == 2
        message = said["error"]["message"]  # the coordinator may be gone before a busy site has heard why
        assert "'west' dropped out" in message or "the coordinator is gone" in message
        assert "The charge stands" in said["error"]["message"]
    held = {name: tacit.PrivacyAccount(f"sqlite:///{place}/{name}.db", "rows") for name in ("coordinator", *sites)}
    [once] = {account.charges for account in held.values()}
    assert once
    for each in held.values():
        assert [line.status for line in each.reservations()] == ["failed"]
    assert not (place / "joined.json").exists()


def test_the_key_of_a_party_is_its_own(hospital: Hospital) -> None:
    place = hospital.place
    assert (place / "north.key").stat().st_mode & 0o777 == 0o600
    for again in (("north", "other.key"), ("east", "north.key")):
        assert hospital.party(*again).exit_code == 2
    result = hospital.party("../north", "x.key")
    assert "letters, digits" in result.stderr
    assert not (place / "x.key").exists()
    summary = json.loads(hospital.party("east", "east.key", "--json").stdout)
    assert len(summary["fingerprint"]) == 64


def test_a_coordinator_says_whom_it_waits_for(hospital: Hospital) -> None:
    process = hospital.join("--progress", "--wait", "1")
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 2
    assert said.splitlines()[0] == "waiting for north, south, west"
