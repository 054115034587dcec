"""Where a load generator runs: what `Generator` needs of a place, and the one that is here."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, Protocol

from brownout.base.binary import find_loadgen
from brownout.base.errors import BrownoutError, GeneratorError
from brownout.base.files import private_file
from brownout.load.environment import generator_environment
from brownout.machine.capabilities import CAP_SYS_NICE, may

__all__ = ["TLS_FILES", "Here", "Place", "Process", "as_generator_error", "open_record", "start"]

#: The nice value of a generator.
_NICE: Final = -10
#: The settings of a connection that are files, which have to be where the generator is.
TLS_FILES: Final = ("ca_file", "cert_file", "key_file")


def open_record(path: Path) -> dict[str, Any] | None:
    """Return what a place on another machine wrote down; None where nothing is left of it there.

    Raises `GeneratorError` where the file cannot be read.
    """
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise GeneratorError(f"`{path}` cannot be read: {error}") from error
    return None if record.get("removed") else record


class Process(Protocol):
    """A running process in the manner of `subprocess.Popen`."""

    @property
    def pid(self) -> int:
        """Its id, on its machine."""
        ...

    @property
    def stdin(self) -> IO[bytes] | None:
        """What it reads."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it writes."""
        ...

    def poll(self) -> int | None:
        """Return its exit status; None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises `subprocess.TimeoutExpired`."""
        ...

    def terminate(self) -> None:
        """Send SIGTERM."""
        ...

    def kill(self) -> None:
        """Send SIGKILL."""
        ...


class Place(Protocol):
    """One machine that a generator runs on. Every method raises `GeneratorError`."""

    @property
    def where(self) -> str:
        """What it is called in messages and records."""
        ...

    def command(self) -> list[str]:
        """Return what starts the generator there."""
        ...

    def start(self, command: list[str], log: Path) -> Process:
        """Start it, its stderr appended to `log` here."""
        ...

    def settle(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the specification as it has to read there: its directory, its files."""
        ...

    def collect(self, clock_uncertainty_s: float | None) -> None:
        """Have every file of the generator complete in the run directory here."""
        ...

    def leave(self) -> None:
        """Remove what was put there. The process has ended."""
        ...


class Here:
    """This machine: the generator writes the run directory itself."""

    where = "here"

    def command(self) -> list[str]:
        """Return the package's own binary."""
        return [str(find_loadgen()), "run"]

    def start(self, command: list[str], log: Path) -> Process:
        """Start it in a session of its own."""
        return start(command, log)

    def settle(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the specification as it is."""
        return spec

    def collect(self, clock_uncertainty_s: float | None) -> None:
        """Do nothing: the files are here."""

    def leave(self) -> None:
        """Do nothing: all that is here belongs to the run."""


def start(command: list[str], log: Path) -> Process:
    """Start `command` on this machine in a session of its own, at a higher priority if we may.

    A Ctrl-C in the terminal then reaches only us: we decide how the load ends. A generator that
    waits for a processor measures this machine and not the database.
    """
    try:
        with private_file(log).open("ab") as stderr, _raised_priority():
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=generator_environment(),
                start_new_session=True,
            )
    except OSError as error:
        raise GeneratorError(f"cannot start `{command[0]}`: {error}") from error
    if may(CAP_SYS_NICE):
        # A kernel that schedules by session goes by the nice value of the session: sched(7).
        with contextlib.suppress(OSError):
            Path(f"/proc/{process.pid}/autogroup").write_text(str(_NICE), encoding="ascii")
    return process


@contextlib.contextmanager
def _raised_priority() -> Iterator[None]:
    """Raise the priority of this thread, and of what it starts, while the block lasts."""
    if not may(CAP_SYS_NICE):
        yield
        return
    before = os.getpriority(os.PRIO_PROCESS, 0)  # in Linux that of the thread: setpriority(2)
    os.setpriority(os.PRIO_PROCESS, 0, _NICE)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


@contextlib.contextmanager
def as_generator_error(what: str) -> Iterator[None]:
    """Say of a machine or cluster that failed us that it was the load's, as `what`."""
    try:
        yield
    except GeneratorError:
        raise
    except BrownoutError as error:
        raise GeneratorError(f"{what}: {error.message}", error.hint) from error
