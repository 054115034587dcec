"""`chaos run` and `brownout` without their imports: a process that has done them forks each.

Such a process behaves like one that was started as `python -m …`; only its modules are there
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["ForkedRun", "brownout", "run", "start"]

#: What runs on most labs import, from the first to the last.
_MODULES: Final = (
    "brownout.actions.node", "brownout.cli.safety", "brownout.control",
    "brownout.databases.mongodb.adapters", "brownout.databases.mongodb.lab.replica_set",
    "brownout.infra.lab", "brownout.probes.cluster", "brownout.probes.impact",
    "brownout.probes.load", "brownout.runs.history.record", "brownout.runs.history.store",
    "brownout.session.plan_file", "chaoslib.run", "chaostoolkit.cli", "jinja2",
)  # fmt: skip
_MOST_BYTES: Final = 200_000
_PR_SET_CHILD_SUBREAPER: Final = 36
#: The process between the server and the run has ended, so that the run is the asker's child.
_LEFT: Final = b"left"
_one_at_a_time = threading.Lock()


class ForkedRun(subprocess.Popen[str]):
    """`python -m …`, forked. The command is the module, or the path of a program, and its words."""

    def _execute_child(self, args: list[str], *more: Any) -> None:
        folder, environment = more[4:6]
        pipes = more[9:15]
        told = {
            "words": args,
            "folder": str(folder or Path.cwd()),
            "environment": environment,
        }
        its = enumerate((pipes[0], pipes[3], pipes[5]))
        files = [usual if file == -1 else file for usual, file in its]
        with _one_at_a_time, _adopting():
            server = _server((environment or os.environ).get("PYTHONPATH", ""))
            socket.send_fds(server, [json.dumps(told).encode()], files)
            self.pid = int(server.recv(_MOST_BYTES))
            assert server.recv(_MOST_BYTES) == _LEFT
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def start(
    command: list[str], env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Start `python -m …` with `env` over our own environment and with `options` of `Popen`.

    It is forked by a server with the same PYTHONPATH. Python reads its other variables only when
    it starts: where `env` sets one of those, the command is started afresh.
    """
    afresh = any(name.startswith("PYTHON") and name != "PYTHONPATH" for name in env or {})
    return (subprocess.Popen if afresh else ForkedRun)(
        [sys.executable, "-m", *command] if afresh else command,
        env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def run(
    command: list[str], timeout: float = 300, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Start a command, wait until it has ended, and return all that it said."""
    with start(command, stderr=subprocess.PIPE, **options) as process:
        try:
            said = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, *said)


def brownout(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `brownout …`, as `run` does."""
    return run(["brownout", *words], **options)


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
def _server(path: str) -> socket.socket:
    """Start the process that forks, with this PYTHONPATH; return the socket that it listens to.

    It ends when that socket is closed.
    """
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        command = [sys.executable, __file__, str(its.fileno())]
        environment = {**os.environ, "PYTHONPATH": path}
        process = subprocess.Popen(command, env=environment, pass_fds=[its.fileno()])
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _serve(way: socket.socket) -> str:
    """Fork for each request. Returns in the fork only, and there what it is to run."""
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
            return _become(json.loads(request), files)
        os.waitpid(between, 0)
        way.send(_LEFT)
        for file in files:
            os.close(file)


def _become(told: dict[str, Any], files: list[int]) -> str:
    for usual, file in enumerate(files):
        os.dup2(file, usual)
        os.close(file)
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    sys.path[0] = told["folder"]
    program, *sys.argv[1:] = told["words"]
    importlib.invalidate_caches()
    return str(program)


def main() -> None:
    """Import, then fork; in the fork run what is wanted."""
    way = socket.socket(fileno=int(sys.argv[1]))
    sys.path[0] = str(Path(__file__).parents[1])
    for name in _MODULES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    program = _serve(way)
    if program.endswith(".py"):
        sys.argv[0] = program
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
