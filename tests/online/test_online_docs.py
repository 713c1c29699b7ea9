"""The worked examples of docs/online.md run and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "online.md"
BLOCKS = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)


def test_the_example_prints_what_the_page_shows() -> None:
    blocks = BLOCKS.findall(PAGE.read_text("utf-8"))
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)
        assert printed.getvalue() == expected
