"""Files of suspended streams: secret, written once, good for one continuation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tacit.whole_files import write_text

FORMAT = "tacit suspended stream"
WARNING = (
    "SECRET: private state of a stream. Whoever has it can see rows in its answers. Keep it as the rows; use it once."
)


def write_secrets(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Writes a new file that only its owner may read.

    Raises:
        FileExistsError: if there is a file already; nothing is overwritten.
    """
    text = json.dumps({"format": FORMAT, "warning": WARNING, **content})
    write_text(path, text, private=True, replace=False)


def read_secrets(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a suspended stream; lists among its parameters become tuples again.

    Raises:
        ValueError: if it is none.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a suspended stream")
    parameters = content["parameters"]
    content["parameters"] = {name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()}
    return content


def retire_secrets(path: str | os.PathLike[str]) -> None:
    """Renames a file that has been used."""
    source = Path(path)
    source.replace(source.with_name(source.name + ".used"))
