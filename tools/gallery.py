"""Writes docs/examples.md: `python -m tools.gallery` runs examples/gallery for what its scripts print and draw."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "examples" / "gallery"
PAGE = ROOT / "docs" / "examples.md"
PICTURES = ROOT / "docs" / "figures" / "gallery"
ORDER = (
    "hospital", "bank", "survey", "costs", "stream", "markers", "own_booster", "three_hospitals", "warehouse",
)  # fmt: skip

HEAD = """# Examples

Nine scripts in [examples/gallery](../examples/gallery), each with what one run printed and drew; noise is fresh in
every run. All data are made up.
"""


def section(name: str, printed: str, drawn: bool) -> str:
    """The part of the page about one script; its title is the first words of the docstring."""
    docstring = ast.get_docstring(ast.parse((SCRIPTS / f"{name}.py").read_text("utf-8"))) or ""
    title, _, words = docstring.partition(": ")
    parts = [
        f"## {title}",
        f"{words[0].upper()}{words[1:]}",
        f"```{{literalinclude}} ../examples/gallery/{name}.py\n:language: python\n:start-at: import\n```",
        f"```{{code-block}} text\n{printed.rstrip()}\n```",
    ]
    if drawn:
        parts.append(f"![{title}](figures/gallery/{name}.svg)")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    PICTURES.mkdir(exist_ok=True)
    parts = [HEAD]
    for name in ORDER:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-W", "ignore", str(SCRIPTS / f"{name}.py")]
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            drawn = Path(folder, f"{name}.svg")
            drew = drawn.exists()
            if drew:
                (PICTURES / drawn.name).write_bytes(drawn.read_bytes())
            parts.append(section(name, result.stdout, drew))
        print(name, "drawn" if drew else "printed", flush=True)
    PAGE.write_text("\n".join(parts), "utf-8")


if __name__ == "__main__":
    main()
