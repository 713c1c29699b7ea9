"""Small files to make mistakes with, and a runner that keeps what was printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.main import get_command
from typer.testing import CliRunner

SCHEMA = """
[label]
column = "bought"
kind = "classes"
classes = ["no", "yes"]
positive = "yes"

[columns.age]
kind = "numeric"
lower = 18
upper = 90

[columns.colour]
kind = "categorical"
categories = ["red", "green"]
"""


def rows(n: int = 400) -> str:
    """A table with an effect of both columns, some gaps, and an unknown colour."""
    lines = ["age,colour,bought,id"]
    for i in range(n):
        age = "" if i % 37 == 0 else str(18 + (i * 7) % 72)
        colour = ("red", "green", "blue")[i % 3]
        bought = "yes" if (18 + (i * 7) % 72 > 50) != (i % 11 == 0) else "no"
        lines.append(f"{age},{colour},{bought},{i}")
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True, scope="session")
def _commands_made_once() -> Iterator[None]:
    """The runner makes all commands anew at every call, which takes longer than many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command), raising=False)
        yield


@pytest.fixture(autouse=True)
def _short(few_rounds: None) -> None:
    """Additive fits in this process have few rounds: no command is judged by how good its model is."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with ``data.csv`` and ``schema.toml``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(rows())
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


class Done(Result):
    """What a command printed: all of it in words, or as JSON."""

    @property
    def words(self) -> str:
        return " ".join(self.output.split())

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


Run = Callable[..., Done]


@pytest.fixture(scope="session")
def tacit() -> Run:
    """Runs the command line in this process; faults keep their traceback.

    Of ``tacit("fit data.csv", "--name", "my data", code=0, says="spent")`` the first argument is parted at its blanks,
    ``code`` is the exit code that must come, and ``says`` what must be among the words, a text or several.
    """
    from tacit.cli.main import app

    def run(*arguments: object, code: int | None = None, says: str | Sequence[str] = ()) -> Done:
        words = [part for place, a in enumerate(arguments) for part in (str(a).split(" ") if place == 0 else [str(a)])]
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        result.__class__ = Done
        assert isinstance(result, Done)
        assert code in (None, result.exit_code), (arguments, result.output)
        for text in [says] if isinstance(says, str) else says:
            assert text in result.words, (arguments, text, result.output)
        return result

    return run


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, schema, and a model, certificate and report made from them."""
    from tacit.cli.main import app

    place = tmp_path_factory.mktemp("fitted")
    (place / "data.csv").write_text(rows())
    (place / "schema.toml").write_text(SCHEMA)
    files = [f"--{name}={place / name}.{end}" for name, end in (("model", "json"), ("report", "html"))]
    arguments = ["fit", f"{place}/data.csv", f"--schema={place}/schema.toml", f"--certificate={place}/certificate.json"]
    result = CliRunner().invoke(app, [*arguments, *files], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return place
