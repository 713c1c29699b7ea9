"""A command ``tacit`` that starts at once, for pages whose commands are many: forks of one process that has all loaded.

The true one is in README's blocks and in the tests of processes; here its start would take longer than all it does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect(os.environ["TACIT_FORKS"])
    said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(there, [len(said).to_bytes(4, "big")], [0, 1, 2])
    there.sendall(said)
    sys.exit((there.recv(1) or b"\\x01")[0])
"""
SCRIPT = '#!/bin/sh\nexec "$TACIT_PYTHON" -IS "${0%/*}/client.py" "$@"\n'


@cache
def environment() -> dict[str, str]:
    """The variables of a shell that has this command, whose process ends with ours."""
    folder = Path(tempfile.mkdtemp(prefix="tacit-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "client.py").write_text(CLIENT)
    (folder / "tacit").write_text(SCRIPT)
    (folder / "tacit").chmod(0o700)
    place = str(folder / "socket")
    command = [sys.executable, "-m", "tests.forked", place]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)  # the end of its input ends it
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "TACIT_FORKS": place, "TACIT_PYTHON": sys.executable}


def serve(place: str) -> None:
    """Forks for each command that comes, until standard input ends."""
    import tacit
    import tacit.cli.main

    for name in tacit.PUBLIC:
        getattr(tacit, name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as here:
        here.bind(place)
        here.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([here, sys.stdin], [], [])[0]:
            there, _ = here.accept()
            if os.fork() == 0:
                here.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run(there)
            there.close()


def run(there: socket.socket) -> None:
    """The command, in the place of the process that asked for it; its exit code is the answer."""
    size, streams, _, _ = socket.recv_fds(there, 4, 3)
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += there.recv(1 << 16)
    arguments, folder, variables = json.loads(said)
    if worker := os.fork():
        there.sendall(bytes([abs(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))]))
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["tacit", *arguments]
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115
    from tacit.cli.main import main

    main()


if __name__ == "__main__":
    serve(sys.argv[1])
