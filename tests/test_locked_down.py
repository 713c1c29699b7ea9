"""A service without a home directory, on packages that it cannot write to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tacit import compilation

SOURCES = Path(compilation.__file__).parents[1]
FIT = """
import numpy as np
from tacit import DecisionListClassifier
X = np.random.default_rng(0).uniform(size=(200, 2))
schema = {"columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("x0", "x1")}}
table, labels = dict(zip(("x0", "x1"), X.T)), (X[:, 0] > 0.5).astype(int)
model = DecisionListClassifier(schema=schema, classes=(0, 1)).fit(table, labels)  # of few kernels, all compiled here
print(model.certificate_.verify())
"""
ONE_KERNEL = """
import numpy as np
from tacit.queries.margins import fixed_point
print(fixed_point(np.ones(2), (2,), 0, 1 << 20)[1] > 0)
"""


AS_NOBODY = (
    "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
    "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search", "--bounding-set=-all,+dac_read_search",
)  # fmt: skip
"""Another user, who may read the interpreter wherever it is, and write to nothing."""


NO_TEMPORARY = """
import tempfile
def none():
    raise FileNotFoundError("No usable temporary directory found")
tempfile.gettempdir = none
"""

becoming_another = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become another user"
)


def by_nobody(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCES), **variables}
    command = [*AS_NOBODY, sys.executable, "-c", program]
    return subprocess.run(command, env=kept, cwd="/", capture_output=True, text=True, check=False)


@pytest.mark.slow
@becoming_another
def test_a_fit_by_nobody_without_a_home_or_temporary_files() -> None:
    result = by_nobody(NO_TEMPORARY + FIT, **{compilation.VARIABLE: "/nowhere/at/all"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
    assert "code is compiled anew in every process" in result.stderr


def test_a_temporary_folder_that_cannot_be_written_to_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert compilation._temporary() is not None

    def read_only(**asked: Path) -> None:
        raise OSError(30, f"{asked}: read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    assert compilation._temporary() is None


@becoming_another
def test_a_fit_by_nobody_without_a_home(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    result = by_nobody(FIT, TMPDIR=str(tmp_path), PYTHONWARNINGS="error::RuntimeWarning")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
    assert not result.stderr
    (cache,) = tmp_path.glob("tacit-*")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert list(cache.rglob("*.nbi"))


@becoming_another
def test_a_folder_that_somebody_else_has_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "tacit-65534").mkdir(mode=0o755)
    result = by_nobody(ONE_KERNEL, TMPDIR=str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "True"
    assert "somebody else has the folder" in result.stderr


def test_a_place_that_can_be_written_to_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compilation.VARIABLE, raising=False)
    compilation.settle()
    assert compilation.VARIABLE not in os.environ


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = compilation._temporary()
    assert first is not None
    assert compilation._temporary() == first
    first.chmod(0o777)
    other = compilation._temporary()
    assert other is not None
    assert other != first
    assert stat.S_IMODE(other.stat().st_mode) == 0o700
