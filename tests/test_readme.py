"""The README's blocks run as they stand, in order, in one directory that holds nothing but ``.venv``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AUC = re.compile(r"AUC (0\.\d+) ± (0\.\d+)")
ACTIVATION = ". .venv/bin/activate\n"


def blocks() -> list[tuple[str, str]]:
    """Language and text of each block."""
    return BLOCK.findall((ROOT / "README.md").read_text("utf-8"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[subprocess.CompletedProcess[str]]]:
    """All blocks, run one after the other as if in one shell, which finds ``tacit`` from where the README says so."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / ".venv").symlink_to(sys.prefix)
    ours = Path(sys.executable).parent
    path = os.pathsep.join(place for place in os.environ.get("PATH", "").split(os.pathsep) if Path(place) != ours)
    environment = {**os.environ, "PATH": path}
    before, result = "", []
    for language, text in blocks():
        before += text if text == ACTIVATION else ""
        shell = text if text == ACTIVATION else before + text
        command = ["bash", "-euc", shell] if language == "sh" else ["bash", "-euc", ACTIVATION + 'python -c "$0"', text]
        result.append(subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False))
    return folder, result


def test_there_are_blocks_of_both_kinds() -> None:
    languages = [language for language, _ in blocks()]
    assert languages.count("sh") >= 3
    assert languages.count("python") >= 1


def test_every_block_runs(outcomes: tuple[Path, list[subprocess.CompletedProcess[str]]]) -> None:
    failed = [
        f"{text}\n{result.stderr}" for (_, text), result in zip(blocks(), outcomes[1], strict=True) if result.returncode
    ]
    assert not failed, "\n".join(failed)


def outcome_of(start: str, done: list[subprocess.CompletedProcess[str]]) -> str:
    """What the first block that starts so printed."""
    return next(run.stdout for (_, text), run in zip(blocks(), done, strict=True) if text.startswith(start))


def test_the_demo_prints_what_is_shown(outcomes: tuple[Path, list[subprocess.CompletedProcess[str]]]) -> None:
    """But for the noise: figures may be off by one of the standard errors that are printed."""
    (shown,) = PRINTED.findall((ROOT / "README.md").read_text("utf-8"))
    printed = "".join(f"{line.rstrip()}\n" for line in outcome_of("tacit demo", outcomes[1]).splitlines())
    assert AUC.sub("AUC", printed) == AUC.sub("AUC", shown)
    figures = [[(float(auc), float(error)) for auc, error in AUC.findall(text)] for text in (shown, printed)]
    assert len(figures[0]) == 2
    for (auc, error), (again, _) in zip(*figures, strict=True):
        assert abs(auc - again) <= error


def test_what_was_promised_is_there(outcomes: tuple[Path, list[subprocess.CompletedProcess[str]]]) -> None:
    folder, result = outcomes
    for name in (
        "demo/report.html",
        "demo/certificate.json",
        "readmission.json",
        "readmission.html",
        "hospital.json",
        "predictions.csv",
    ):
        assert (folder / name).stat().st_size > 100, name
    assert "the claim holds" in outcome_of("tacit fit", result)
    assert "at most 3 rows True" in outcome_of("from tacit import", result)


def test_both_commands_for_a_clone_are_named() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "    make demo" in text
    assert "    make test" in text
