"""Run every test, as `make test` does: `run_tests.py MAKE`, with the make to call.

The tests that measure need quiet processors, but use only a tenth of them. With `BEHIND=yes` in the
environment, and where this machine allows it, the tests that bring no server up run behind them, in
a control group that only gets the processor time that nobody else wants (`cpu.idle`: Linux 5.15 and
root). Otherwise they run first.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

MEASURING, PATIENT = "test-alone", ("test-go", "test-behind")
#: One after the other, when those are over.
OTHERS = ("test-together", "test-live")
_NAME = "brownout-tests-"
#: Where the controller of processors is: of control groups v1, and of v2.
CONTROLLERS = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))


@contextmanager
def idle_group(controllers: Sequence[Path] = CONTROLLERS) -> Iterator[Path | None]:
    """Make a control group for what can wait; yield None where this machine lets nobody make it."""
    for controller in controllers:
        for left in controller.glob(f"{_NAME}*"):
            if not Path("/proc", left.name.removeprefix(_NAME)).exists():
                _remove(left)
    group = next(filter(None, map(_made_in, controllers)), None)
    try:
        yield group
    finally:
        if group is not None:
            _remove(group)


def _made_in(controller: Path) -> Path | None:
    group = controller / f"{_NAME}{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        idle = group / "cpu.idle"
        if idle.exists():  # else it is a plain folder, or its parent does not share processors out
            idle.write_text("1")
            return group
    except OSError:
        pass
    _remove(group)
    return None


def _remove(group: Path) -> None:
    """Remove a group that is empty: what ends the pauses of tests may be in it for two minutes."""
    with suppress(OSError):
        group.rmdir()


def main(make: str, controllers: Sequence[Path] = CONTROLLERS) -> int:
    """Call `make` for each part of the tests; return 1 if one failed, otherwise 0.

    Ctrl-C ends the part that runs, in its own way, and no other part follows: 130.
    """
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        return _run(make, controllers, interrupted)
    finally:
        signal.signal(signal.SIGINT, before)


def _run(make: str, controllers: Sequence[Path], interrupted: threading.Event) -> int:
    failed = False
    with idle_group(controllers) as group, tempfile.TemporaryFile() as said:

        def join() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        command = [make, "-s", "-j2", "-k", *PATIENT]
        waiting = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, preexec_fn=join)
        if group is None:
            _show(waiting, said)
        if not interrupted.is_set():
            failed |= _fails(make, MEASURING)
        if group is not None:
            print("what ran behind them", flush=True)
            _show(waiting, said)
        failed |= waiting.wait() != 0
    for part in OTHERS:
        if not interrupted.is_set():
            failed |= _fails(make, part)
    return 130 if interrupted.is_set() else int(failed)


def _fails(make: str, target: str) -> bool:
    return subprocess.run([make, "-s", target], check=False).returncode != 0


def _show(process: subprocess.Popen[bytes], said: BinaryIO) -> None:
    """Copy what a process says to standard output until it ends."""
    at, ended = 0, False
    while not ended:
        ended = process.poll() is not None
        while new := os.pread(said.fileno(), 1 << 16, at):
            at += len(new)
            sys.stdout.buffer.write(new)
            sys.stdout.buffer.flush()
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], CONTROLLERS if os.environ.get("BEHIND") else ()))
