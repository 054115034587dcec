"""Running a shell script on a machine, this one or another: what scripts look like, who runs them.

A script goes to `/bin/sh -s` by its standard input: nothing of it is in the process table, and no
login shell gets to interpret it. What it prints is lines of `name value`:

    stamp_sent 1795251600123456789
    state gone
"""

import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from brownout.base.errors import HostError
from brownout.base.secret import environment_without_secrets

__all__ = [
    "Answer",
    "Completed",
    "LocalRunner",
    "Program",
    "Runner",
    "Script",
    "answer",
    "last_words",
    "printed",
    "program",
    "script",
]

#: What a login shell prints before the script begins (`~/.bashrc` may) is not the script's.
_BEGIN = "brownout: the script's output begins"
#: A clock that differs by so much from before was set.
_STEP_S = 0.001
#: `date` on a node's clock; readings are compared only with readings of the same script.
_PRELUDE = f"""\
echo "{_BEGIN}"
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin; export PATH
stamp() {{ printf 'stamp_%s %s\\n' "$1" "$(date +%s%N)"; }}
"""


#: Of a program that may do more than who calls it: it finds nothing by the caller's PATH.
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH\n"


@dataclass(frozen=True, slots=True)
class Completed:
    """One script that ended: between `sent` and `received`, both `time.monotonic()`.

    Where a connection broke, the script ran again: `sent` is that of the last attempt, and
    `first_sent` that of the first, which may have had its effect too. `ahead_s` is by how much the
    script's clock was ahead of `time.monotonic()`, where they are known to be of one machine.
    """

    status: int
    output: str
    errors: str
    sent: float
    received: float
    first_sent: float
    attempts: int = 1
    ahead_s: float | None = None


class Runner(Protocol):
    """One machine that runs scripts."""

    @property
    def where(self) -> str:
        """Which machine, for messages."""
        ...

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run a script that may safely run twice; raises `HostError` if it cannot be run."""
        ...


class LocalRunner:
    """Runs scripts on this machine; `enter` is what goes before, to run them in a namespace."""

    def __init__(self, enter: Sequence[str] = (), where: str = "this machine") -> None:
        self._enter, self.where = enter, where

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run a script here and wait for its end."""
        before_s, sent = _ahead_s(), time.monotonic()
        try:
            done = subprocess.run(
                [*self._enter, "/bin/sh", "-s"],
                input=text.encode(errors="surrogateescape"),
                capture_output=True,
                timeout=timeout_s,
                env={**environment_without_secrets(), "LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(
                f"a script did not end within {timeout_s:g} s on {self.where}"
            ) from error
        except OSError as error:  # no process or file descriptor is left
            raise HostError(
                f"a script could not be started on {self.where}: {error.strerror}"
            ) from error
        received, after_s = time.monotonic(), _ahead_s()
        output, errors = printed(done.stdout), printed(done.stderr)
        ahead_s = after_s if abs(after_s - before_s) < _STEP_S else None  # else it was set
        return Completed(done.returncode, output, errors, sent, received, sent, ahead_s=ahead_s)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a script printed: `name value` lines, in their order."""

    lines: tuple[tuple[str, str], ...]

    def get(self, name: str, otherwise: str = "") -> str:
        """Return the last value called `name`."""
        values = self.all(name)
        return values[-1] if values else otherwise

    def all(self, name: str) -> list[str]:
        """Return every value called `name`."""
        return [value for key, value in self.lines if key == name]

    def number(self, name: str) -> int | None:
        """Return the last value called `name` as a number; None if there is none."""
        value = self.get(name)
        return int(value) if value.lstrip("-").isdigit() else None


class Script(str):
    """A whole script, and what it was made of: its constant `body`, and its `arguments`."""

    __slots__ = ("arguments", "body")

    body: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A script that a login may be allowed by itself: its `body`, and which arguments it may have.

    `check` is shell that returns 0 where the arguments are about the node (`ssh.helpers` has the
    functions and variables for it). `act` is the act for which it changes something, empty where it
    only looks; `undone_by` the act that undoes that.
    """

    body: str
    check: str = "[ $# = 0 ]"
    act: str = ""
    undone_by: str = ""


def script(body: str, *arguments: object) -> Script:
    """Return a whole script whose `body` finds `arguments` in `$1`, `$2`, ….

    The body is one function, so that the shell has read all of it before a command of it could
    take the rest for its own input.
    """
    given = tuple(str(argument) for argument in arguments)
    text = Script(_whole(body, " ".join(map(shlex.quote, given))))
    text.body, text.arguments = body, given
    return text


def program(body: str, check: str) -> str:
    """Return a program of its own, which finds in its arguments what the `body` of a script does.

    `check` is run before, with the same arguments, and ends the program where they are not allowed.
    """
    given = '"$@"'
    return f"#!/bin/sh\n{_PATH}{check}{_whole(body, given)}"


def _whole(body: str, words: str) -> str:
    return f"{_PRELUDE}main() {{\n{body.strip()}\n}}\nmain {words} </dev/null\nexit $?\n"


def printed(data: bytes | str | None) -> str:
    """Return what a script printed as text, without what came before it began."""
    text = data if isinstance(data, str) else (data or b"").decode(errors="surrogateescape")
    return text.partition(f"{_BEGIN}\n")[2] if _BEGIN in text else text


def answer(completed: Completed, what: str, where: str) -> Answer:
    """Return what a script printed; raises `HostError` with its last words if it failed."""
    if completed.status:
        words = last_words(completed.errors) or last_words(completed.output) or "it said nothing"
        raise HostError(f"{what} failed on {where} (status {completed.status}): {words}")
    return Answer(tuple(_pairs(completed.output)))


def last_words(text: str, lines: int = 3) -> str:
    """Return the end of what a command said, in one line."""
    written = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(line[:300] for line in written[-lines:])


def _ahead_s() -> float:
    """Return by how much this machine's clock is ahead of `time.monotonic()`.

    It is read several times, since we may lose the processor between two readings.
    """
    readings = [(time.monotonic(), time.time(), time.monotonic()) for _ in range(5)]
    before, clock, after = min(readings, key=lambda one: one[2] - one[0])
    return clock - (before + after) / 2


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        name, _, value = line.partition(" ")
        if name:
            yield name, value
