"""Where compiled kernels are kept, on machines that leave numba no place of its own.

numba keeps what it compiles beside the source, or below the home directory, and raises where it may write to neither:
for a service without a home on read-only site-packages. A folder of the user in the directory for temporary files does
as well, and without one nothing is kept. It must be the user's own and closed to others: what is loaded from it is run.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from tacit.packages import is_installed

VARIABLE = "NUMBA_CACHE_DIR"
"""Where numba looks first."""

KERNELS = Path(__file__).parent / "engines"
"""Where most kernels are."""


def settle() -> None:
    """Gives numba a place for compiled code if it would find none, or has it keep none.

    A warning says so where code is compiled anew in every process. A folder that the next process finds again is no
    reason to warn: programs that take warnings for errors import the library there as anywhere.
    """
    value = os.environ.get(VARIABLE)
    if (
        not is_installed("numba")
        or _writable(KERNELS / "__pycache__")
        or _writable(_user_cache())
        or (value and _writable(Path(value)))
    ):
        return
    nowhere = f"neither {KERNELS.parent} nor a home directory can be written to"
    place = _temporary()
    if place is None:
        _keep_nothing()
        warnings.warn(
            f"{nowhere}, nor is there a folder for temporary files: code is compiled anew in every process, which "
            f"takes some seconds; set {VARIABLE} to a folder that can be written to",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    os.environ[VARIABLE] = str(place)
    if "numba" in sys.modules:
        import numba

        vars(numba.config)["CACHE_DIR"] = str(place)  # it has read the environment already
    if place.name != _own_name():
        warnings.warn(
            f"{nowhere}, and somebody else has the folder for temporary files that would be used: code is compiled "
            f"anew in every process, and kept in {place}; set {VARIABLE} to a folder that can be written to",
            RuntimeWarning,
            stacklevel=3,
        )


def _keep_nothing() -> None:
    """Has numba compile without a cache: it has no switch for that, and raises where it finds no place for one."""
    import numba

    compiled = numba.njit

    def njit(*arguments: Any, **options: Any) -> Any:
        return compiled(*arguments, **{**options, "cache": False})

    vars(numba)["njit"] = njit


def _user_cache() -> Path | None:
    """The user's folder for caches, as numba finds it; None without a home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # nobody knows where the home is
        return None


def _writable(folder: Path | None) -> bool:
    """Whether a folder can be written to, or made."""
    if folder is None:
        return False
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _own_name() -> str:
    """What a user's folder is called."""
    return f"tacit-{os.geteuid()}"


def _temporary() -> Path | None:
    """A folder of this user alone among the temporary ones; None if there is no place for it at all."""
    try:
        folder = Path(tempfile.gettempdir()) / _own_name()
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
        if own:
            tempfile.TemporaryFile(dir=folder).close()  # its file system may be read-only
            return folder
        return Path(tempfile.mkdtemp(prefix="tacit-"))  # somebody else took the name
    except OSError:
        return None
