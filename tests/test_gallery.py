"""Every script of the gallery runs, and has its place on the page."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

from tools import gallery


@pytest.mark.parametrize("name", gallery.ORDER)
@pytest.mark.usefixtures("few_rounds")
def test_the_script_runs_and_draws_what_the_page_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(gallery.SCRIPTS / f"{name}.py"))
    printed = capsys.readouterr().out
    drawn = tmp_path / f"{name}.svg"
    assert printed
    assert drawn.exists() == (gallery.PICTURES / drawn.name).exists()
    page = gallery.PAGE.read_text("utf-8")
    title = gallery.section(name, printed, drawn.exists()).splitlines()[0]
    assert page.count(f"{title}\n") == 1
    assert page.count(f"gallery/{name}.py") == 1


def test_no_script_is_left_out() -> None:
    assert {path.stem for path in gallery.SCRIPTS.glob("*.py")} == set(gallery.ORDER)
