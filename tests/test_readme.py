"""The README's blocks run as they stand, in order, in one empty directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Language and text of each block."""
    return BLOCK.findall((ROOT / "README.md").read_text("utf-8"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[subprocess.CompletedProcess[str]]]:
    """All blocks, run one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    done = []
    for language, text in blocks():
        command = ["bash", "-euc", text] if language == "sh" else [sys.executable, "-c", text]
        done.append(subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False))
    return folder, done


def test_there_are_blocks_of_both_kinds() -> None:
    languages = [language for language, _ in blocks()]
    assert languages.count("sh") >= 3
    assert languages.count("python") >= 1


def test_every_block_runs(outcomes: tuple[Path, list[subprocess.CompletedProcess[str]]]) -> None:
    failed = [
        f"{text}\n{done.stderr}" for (_, text), done in zip(blocks(), outcomes[1], strict=True) if done.returncode
    ]
    assert not failed, "\n".join(failed)


def test_what_was_promised_is_there(outcomes: tuple[Path, list[subprocess.CompletedProcess[str]]]) -> None:
    folder, done = outcomes
    for name in ("demo/report.html", "demo/certificate.json", "affair.json", "affair.html", "predictions.csv"):
        assert (folder / name).stat().st_size > 100, name
    assert "AUC" in done[0].stdout
    assert "the claim holds" in done[1].stdout
    assert "True" in done[-1].stdout
