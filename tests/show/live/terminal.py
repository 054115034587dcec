"""A real pseudo-terminal with a program in it, and what a person would see on it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HIDE_CURSOR", "SHOW_CURSOR", "Session", "run_in_terminal"]

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
ROOT = Path(__file__).parents[3]
_SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


@dataclass(frozen=True)
class Session:
    """A finished program: its exit code, all it wrote, and the screen that it left."""

    code: int
    written: str
    screen: list[str]


def run_in_terminal(
    module: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    width: int = 100,
    height: int = 30,
    go_on_at: Sequence[str] = (),
    goes_on: "subprocess.Popen[bytes] | None" = None,
    interrupt_at: str = "",
) -> Session:
    """Run `python -m module` in a terminal of its own until it ends.

    It, or the process `goes_on`, gets SIGUSR1 each time that the next of `go_on_at` is on the
    screen. Once it has written `interrupt_at`, Ctrl-C is pressed.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    process = subprocess.Popen(
        ["setsid", "--ctty", sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=_environment(env or {}),
    )
    os.close(theirs)
    written = _read_all(ours, process, go_on_at, goes_on or process, interrupt_at)
    os.close(ours)
    return Session(process.wait(), written, screen_of(written, width))


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    ours = ("CI", "NO_COLOR", "COLUMNS", "LINES")  # a worker of xdist has a width of its own
    inherited = {key: value for key, value in os.environ.items() if key not in ours}
    return {**inherited, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **env}


def _read_all(
    ours: int,
    process: subprocess.Popen[bytes],
    go_on_at: Sequence[str],
    goes_on: subprocess.Popen[bytes],
    interrupt_at: str,
    timeout_s: float = 120.0,
) -> str:
    parts: list[bytes] = []
    awaited = list(go_on_at)
    pressed = not interrupt_at
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if ready:
            try:
                parts.append(os.read(ours, 65536))
            except OSError:  # the other end is closed: the program has ended
                return b"".join(parts).decode()
            written = b"".join(parts)
            if awaited and awaited[0].encode() in written:
                goes_on.send_signal(signal.SIGUSR1)
                del awaited[0]
            if not pressed and interrupt_at.encode() in written:
                pressed = os.write(ours, b"\x03") == 1
        elif process.poll() is not None:
            return b"".join(parts).decode()
    process.kill()
    raise AssertionError("the program did not end")


def screen_of(written: str, width: int) -> list[str]:
    """Return the lines that are on the screen, by the few sequences that rich writes.

    It has no bottom, so nothing scrolls away.
    """
    lines: list[list[str]] = [[]]
    row = column = at = 0
    while at < len(written):
        found = _SEQUENCE.match(written, at)
        if found:
            row, column = _obey(lines, row, column, found[1], found[2])
            at = found.end()
            continue
        character = written[at]
        at += 1
        if character == "\r":
            column = 0
        elif character == "\n":
            row += 1
            while len(lines) <= row:
                lines.append([])
        else:
            if column == width:
                row, column = row + 1, 0
                lines.extend([] for _ in range(row + 1 - len(lines)))
            line = lines[row]
            line.extend(" " * (column + 1 - len(line)))
            line[column] = character
            column += 1
    return ["".join(line).rstrip() for line in lines]


def _obey(
    lines: list[list[str]], row: int, column: int, numbers: str, letter: str
) -> tuple[int, int]:
    count = int(numbers) if numbers.isdigit() else 1
    if letter == "A":
        return max(0, row - count), column
    if letter == "K":
        lines[row] = [] if numbers == "2" else lines[row][:column]
    return row, column
