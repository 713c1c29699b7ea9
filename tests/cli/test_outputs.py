"""One rule for the files that commands write: what is there stays, and nothing is spent, unless --force says so."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tacit.online.suspended import write_secrets
from tacit.privacy.account import PrivacyAccount
from tests.cli.conftest import Run

PAID = ("--account", "sqlite:///budget.db", "--dataset", "shop")
FIT = ("fit", "data.csv", "--schema", "schema.toml", "--learner", "trees", *PAID)
SITES = ("--schema", "schema.toml", "--parties", "parties", "--key", "south.key", *PAID)
PAPERS = ("certificate", "model.json")
ONLINE = ("online", "data.csv", "--schema", "schema.toml", "--horizon", "400", *PAID)

WRITES: dict[str, tuple[str, ...]] = {
    "fit --model": FIT,
    "fit --report": (*FIT, "--model", "new.json"),
    "fit --certificate": (*FIT, "--model", "new.json"),
    "fit --tape": (*FIT, "--model", "new.json", "--random-state", "1"),
    "fit --save-plan": (*FIT, "--dry-run"),
    "online --model": ONLINE,
    "online --predictions": ONLINE,
    "online --certificate": (*ONLINE, "--state", "new.json"),
    "predict --output": ("predict", "model.json", "data.csv"),
    "explain --html": ("explain", "model.json", "data.csv"),
    "evaluate --certificate": ("evaluate", "model.json", "data.csv", "--epsilon", "0.1", *PAID),
    "report --output": ("report", "model.json"),
    "export --output": ("export", "model.json", "--to", "sql"),
    "certificate --registry": PAPERS,
    "certificate --ml-bom": PAPERS,
    "card --output": ("card", "model.json"),
    "dossier --output": ("dossier", "model.json"),
    "erasure --output": ("erasure", "model.json", "--sign", "pair"),
    "join --model": ("join", "--listen", "127.0.0.1:1", *SITES),
    "join --report": ("join", "--listen", "127.0.0.1:1", *SITES, "--model", "new.json"),
    "join --certificate": ("join", "--listen", "127.0.0.1:1", *SITES, "--model", "new.json"),
    "join --tape": ("join", "--listen", "127.0.0.1:1", *SITES, "--model", "new.json"),
    "site --certificate": ("site", "data.csv", "--connect", "127.0.0.1:1", *SITES),
    "budget export --out": ("budget", "export", *PAID),
    "schema init --output": ("schema", "init", "data.csv", "--target", "bought"),
    "schema import --output": ("schema", "import", "table.json", "--from", "frictionless", "--target", "bought"),
    "schema export --output": ("schema", "export", "schema.toml", "--to", "frictionless"),
    "schema discover --output": ("schema", "discover", "data.csv", "--target", "bought", "--epsilon", "0.1", *PAID),
    "schema discover --certificate": (
        "schema", "discover", "data.csv", "--target", "bought", "--epsilon", "0.1", "-o", "new.toml", *PAID
    ),
}  # fmt: skip
"""Options that name an output file, and the rest of a command that is right."""

WITHOUT_FORCE = {"party --key", "site --record"}
"""A key is never overwritten, and a record only grows."""


def outputs(command: Any, name: str = "") -> Iterator[str]:
    """All options of the command line that name a file to write, by their help."""
    for each in getattr(command, "commands", {}).values():
        yield from outputs(each, f"{name}{each.name} ")
    for param in command.params:
        if (getattr(param, "help", "") or "").startswith(("Output file", "Write", "Record the questions", "Log file")):
            yield f"{name}{param.opts[0]}"


@pytest.fixture
def shop(fitted: Path, folder: Path, tacit: Run) -> Path:
    """A folder with a model, an account, keys, and the schema of another tool."""
    shutil.copy(fitted / "model.json", "model.json")
    PrivacyAccount.create("budget.db", "shop", 20.0, 1e-4)
    Path("budget.db.key").write_text("ab" * 32 + "\n")
    for command in (
        ("keys", "new", "pair"),
        ("party", "south", "--parties", "parties", "--key", "south.key"),
        ("schema", "export", "schema.toml", "--to", "frictionless", "-o", "table.json"),
    ):
        tacit(*command, code=0)
    return folder


def test_every_option_that_names_an_output_is_here() -> None:
    from tacit.cli.main import app

    named = set(outputs(get_command(app)))
    assert named - {"keys new OUTPUT", "keys new output"} == WRITES.keys() | WITHOUT_FORCE


@pytest.mark.parametrize("option", WRITES)
def test_a_file_that_is_there_stays_unless_forced(shop: Path, tacit: Run, option: str) -> None:
    command, name = (*WRITES[option], option[option.index("--") :]), "there.tape" if "tape" in option else "there"
    Path(name).write_text("mine")
    inode = Path(name).stat().st_ino
    tacit(*command, name, code=2, says=[f"{name} exists; give another", "--force"])
    assert (Path(name).read_text(), Path(name).stat().st_ino) == ("mine", inode)
    assert PrivacyAccount("budget.db", "shop").reservations() == ()
    assert not Path("new.json").exists()
    if not option.startswith(("join", "site", "fit --c", "fit --r")):
        tacit(*command, name, "--force", code=0)
        assert Path(name).read_bytes() != b"mine"


@pytest.mark.parametrize("option", WRITES)
def test_not_even_force_destroys_what_is_read_or_cannot_be_made_again(shop: Path, tacit: Run, option: str) -> None:
    with closing(sqlite3.connect("other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    write_secrets("stream.json", {})
    command = WRITES[option]
    own = [word for word in command if Path(word).is_file()]
    shutil.copy("parties/south.pem", "other.pem")
    account = ("budget.db", "budget.db.key", "budget.db-wal", "budget.db-journal")
    for place in (*own, *account, "pair", "pair.pub", "other.db", "stream.json", "other.pem"):
        before = Path(place).read_bytes() if Path(place).exists() else None
        words = "belongs to it" if place in account and PAID[0] in command else "overwrit"
        if before is not None or words != "overwrit":
            tacit(*command, option[option.index("--") :], place, "--force", code=2, says=words)
        assert (Path(place).read_bytes() if Path(place).exists() else None) == before
    assert PrivacyAccount("budget.db", "shop").reservations() == ()


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        ("parts", "parts/p.csv", "parts/p.csv lies in the folder of the data"),
        ("parts/*.csv", "parts/a.csv", "parts/a.csv is the data"),
        ("sqlite:///rows.db", "rows.db", "rows.db is the data"),
        ("link.csv", "data.csv", "data.csv is the data"),
    ],
)
def test_rows_in_folders_patterns_databases_and_links_are_inputs(
    shop: Path, tacit: Run, data: str, place: str, words: str
) -> None:
    Path("parts").mkdir()
    shutil.copy("data.csv", "parts/a.csv")
    Path("link.csv").symlink_to("data.csv")
    query = ("--query", "t") if "://" in data else ()
    tacit(f"predict model.json {data} -o {place} --force", *query, code=2, says=words)


def test_what_another_process_wrote_meanwhile_stays(shop: Path, tacit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """All outputs of a fit were paid for: they go beside what has come in between."""
    names = {"--model": "n.json", "--report": "n.html", "--certificate": "c.json"}

    def learned(*_: Any, **__: Any) -> None:
        for name in names.values():
            Path(name).write_text("other")

    from tacit.cli import fit

    real = fit._learn
    monkeypatch.setattr(fit, "_learn", lambda *given, **named: (learned(), real(*given, **named))[1])
    result = tacit(*FIT, *(word for pair in names.items() for word in pair), "--json", code=0)
    written = {"model": "n-2.json", "certificate": "c-2.json", "report": "n-2.html"}
    assert result.json["written"] == written
    assert [Path(name).read_text() for name in names.values()] == ["other"] * 3
    assert all(Path(name).stat().st_size > 100 for name in written.values())
