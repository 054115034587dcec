"""`chaos run` without its imports: a process that has done them forks each run that tests want.

Such a run behaves like one that was started as `python -m chaostoolkit`; only its modules are there
already. It is a child of the test's process and in the same group. It has the folder, environment
and files that it was given, and its own signals, randomness, `sys.argv`, pid and exit code.
"""

import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["ForkedRun"]

#: What runs on most labs import.
_MODULES: Final = (
    "brownout.control", "brownout.databases.mongodb.adapter",
    "brownout.databases.mongodb.lab.replica_set", "brownout.infra.lab",
    "chaoslib.run", "chaostoolkit.cli",
)  # fmt: skip
_MOST_BYTES: Final = 200_000
_PR_SET_CHILD_SUBREAPER: Final = 36
#: The process between the server and the run has ended, so that the run is the asker's child.
_LEFT: Final = b"left"
_one_at_a_time = threading.Lock()


class ForkedRun(subprocess.Popen[str]):
    """`python -m chaostoolkit …`, forked. The command is what follows these words."""

    def _execute_child(self, args: list[str], *more: Any) -> None:
        folder, environment = more[4:6]
        pipes = more[9:15]
        told = {"words": args, "folder": str(folder), "environment": environment}
        its = enumerate((pipes[0], pipes[3], pipes[5]))
        files = [usual if file == -1 else file for usual, file in its]
        with _one_at_a_time, _adopting():
            server = _server()
            socket.send_fds(server, [json.dumps(told).encode()], files)
            self.pid = int(server.recv(_MOST_BYTES))
            assert server.recv(_MOST_BYTES) == _LEFT
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


@contextmanager
def _adopting() -> Iterator[None]:
    """Be the parent of what our children leave behind when they end, until the block does."""
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@functools.cache
def _server() -> socket.socket:
    """Start the process that forks; return the way to it, whose end is its end."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        command = [sys.executable, __file__, str(its.fileno())]
        process = subprocess.Popen(command, pass_fds=[its.fileno()])
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _serve(way: socket.socket) -> None:
    """Fork a run for each request. Returns in that run only, and where no request can follow."""
    while True:
        request, files, _, _ = socket.recv_fds(way, _MOST_BYTES, 3)
        if not request:
            os._exit(0)
        between = os.fork()
        if between == 0:
            parent = os.getpid()
            if pid := os.fork():
                way.send(str(pid).encode())
                os._exit(0)
            way.close()
            while os.getppid() == parent:  # a busy machine may let it end late
                time.sleep(0.001)
            _become(json.loads(request), files)
            return
        os.waitpid(between, 0)
        way.send(_LEFT)
        for file in files:
            os.close(file)


def _become(told: dict[str, Any], files: list[int]) -> None:
    for usual, file in enumerate(files):
        os.dup2(file, usual)
        os.close(file)
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    sys.path[0] = told["folder"]
    sys.argv[1:] = told["words"]
    importlib.invalidate_caches()


def main() -> None:
    """Import, then fork; in the fork run."""
    way = socket.socket(fileno=int(sys.argv[1]))
    sys.path[0] = str(Path(__file__).parents[1])
    for name in _MODULES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    _serve(way)
    runpy.run_module("chaostoolkit", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
