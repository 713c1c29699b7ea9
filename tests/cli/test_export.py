"""`tacit export` writes a file of every format, and tells what it needs."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from tacit.models.binding import model_digest
from tacit.models.files import save_model
from tests.cli.conftest import Run
from tests.export.models import models


@pytest.fixture
def model(folder: Path) -> str:
    save_model(models()["rule"], folder / "m.json")
    return model_digest(models()["rule"])


def test_every_format(model: str, folder: Path, tacit: Run) -> None:
    result = tacit("export m.json --to sql --dialect sqlite --table t --keep id --json")
    assert result.json["tacit.model_digest"] == model
    text = (folder / "m.sql").read_text()
    assert text.startswith(f"-- tacit.model_digest: {model}\n")
    assert '"id"' in text
    for target, ending in (("onnx", "onnx"), ("excel", "xlsx"), ("json-schema", "schema.json")):
        tacit("export m.json --to", target, code=0)
        assert (folder / f"m.{ending}").stat().st_size > 1000
    assert openpyxl.load_workbook(folder / "m.xlsx").sheetnames == ["about", "rule"]


def test_mistakes_are_told_and_nothing_is_written(model: str, folder: Path, tacit: Run) -> None:
    for more in (("--to", "sql", "--dialect", "oracle"), ("--to", "onnx", "--keep", "id"), ("--to", "pmml"), ()):
        tacit("export m.json", *more, code=2)
    assert [path.name for path in folder.iterdir() if path.name.startswith("m.")] == ["m.json"]
