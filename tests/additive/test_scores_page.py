"""The examples of the page on several classes and numbers run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "multiclass_and_regression.md"


def test_the_examples_run(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(compile("".join(blocks), str(PAGE), "exec"), names)
    assert "[" in capsys.readouterr().out
    assert names["ordered"].model_.kind == "additive_ordered"  # type: ignore[attr-defined]
    mean, high, frame = names["mean"], names["high"], names["X"]
    assert float(np.mean(high.predict(frame) > mean.predict(frame))) > 0.9
