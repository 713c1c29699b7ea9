"""Files of suspended streams: secret, written once, good for one continuation."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from tacit.whole_files import write_text

FORMAT = "tacit suspended stream"
WARNING = (
    "SECRET: private state of a stream. Whoever has it can see rows in its answers. Keep it as the rows; use it once."
)


class StreamClosed(RuntimeError):  # noqa: N818 - a state, told to whoever asks too much of it
    """A stream that has moved elsewhere, or a copy that never had one: it predicts and cannot learn.

    Example:
        >>> import pickle
        >>> from tacit.online import StreamClosed, Winnow
        >>> model = Winnow(horizon=100, labels=(-1, 1))
        >>> model.learn_many([[1, -1]], [1])
        >>> try:
        ...     pickle.loads(pickle.dumps(model)).learn_many([[1, -1]], [1])
        ... except StreamClosed:
        ...     print("a copy cannot learn")
        a copy cannot learn
    """


def write_secrets(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Writes a new file for its owner alone, and overwrites none; its last line is the SHA-256 of the one before."""
    text = json.dumps({"format": FORMAT, "warning": WARNING, **content})
    write_text(path, f"{text}\n{_digest(text)}\n", private=True, replace=False)


def read_secrets(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a suspended stream; a :class:`ValueError` says that it is none, or not as it was written."""
    text, _, digest = Path(path).read_text(encoding="utf-8").removesuffix("\n").rpartition("\n")
    try:
        content = json.loads(text) if digest == _digest(text) else None
    except RecursionError:
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        content = {}
    parameters = content.get("parameters")
    if not isinstance(parameters, dict):
        raise ValueError(f"{path} is not a suspended stream, or was changed after it was written")
    content["parameters"] = {name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()}
    return content


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def retire_secrets(path: str | os.PathLike[str]) -> None:
    """Renames a file that has been used."""
    source = Path(path)
    source.replace(source.with_name(source.name + ".used"))
