"""Checks the lemmas in `proofs/` with Coq, and that none rests on an axiom: ``python -m tools.check_proofs``."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROOFS = Path(__file__).parents[1] / "proofs"
SHARED = ("finite_sums", "ordered")
CLOSED = "Closed under the global context"
THEOREM = re.compile(r"^Theorem (\w+)", re.MULTILINE)


def files() -> list[str]:
    """The names of the lemma files, those that the others import first."""
    names = sorted(path.stem for path in PROOFS.glob("*.v"))
    return [*SHARED, *(name for name in names if name not in SHARED)]


def theorems(name: str) -> list[str]:
    """The theorems of a file, in their order."""
    return THEOREM.findall((PROOFS / f"{name}.v").read_text("utf-8"))


def check(folder: Path = PROOFS) -> str:
    """What all theorems of the files in ``folder`` together assume, as Coq prints it.

    They are asked about in one tuple: to go through the library that proofs use takes Coq a second each time.

    Raises:
        ValueError: if Coq refuses a file, with its message.
    """
    with tempfile.TemporaryDirectory() as place:
        for name in files():
            shutil.copy(folder / f"{name}.v", place)
            _compile(name, place)
        terms = ", ".join(f"{name}.{theorem}" for name in files() for theorem in theorems(name))
        lines = (f"From Tacit Require {' '.join(files())}.", f"Definition all := ({terms}).", "Print Assumptions all.")
        Path(place, "assumptions.v").write_text("\n".join(lines) + "\n", "utf-8")
        return _compile("assumptions", place).strip()


def _compile(name: str, place: str) -> str:
    command = ["coqc", "-q", "-R", ".", "Tacit", f"{name}.v"]
    result = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ValueError(f"{name}.v is not accepted:\n{result.stdout}{result.stderr}")
    return result.stdout


def main() -> int:
    """Prints the theorems, and what they assume."""
    if shutil.which("coqc") is None:
        print("skipped: coq is not installed (make setup installs it)")
        return 0
    try:
        result = check()
    except ValueError as error:
        print(error)
        return 1
    for name in files():
        print(f"{name:16} {', '.join(theorems(name))}")
    print(result)
    return int(result != CLOSED)


if __name__ == "__main__":
    sys.exit(main())
