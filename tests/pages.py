"""Worked examples of the documentation: run, and compared with what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = re.compile(r"```python\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)


def prints_what_it_shows(name: str, examples: int, together: bool = True) -> None:
    """Fails unless a page has so many examples, and each prints what stands below it.

    Args:
        name: the page, in ``docs``.
        examples: how many it has.
        together: whether an example goes on where the one before ended.
    """
    page = DOCS / name
    blocks = BLOCKS.findall(page.read_text("utf-8"))
    assert len(blocks) == examples
    names: dict[str, object] = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names if together else {})
        assert printed.getvalue() == expected
