"""A command on another machine whose input and output are files or pipes of ours.

It has the manners of `subprocess.Popen`, so that its caller need not know where the process
runs. When the connection breaks it is over for us, with `LOST` for an exit status; over there it
continues with its input at an end.
"""

import asyncio
import os
import shlex
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

import asyncssh

from brownout.base.errors import HostError
from brownout.machine.commands import answer, last_words, printed, script
from brownout.machine.ssh import background
from brownout.machine.ssh.connection import Connection, SshRunner
from brownout.machine.ssh.failures import Unreachable

__all__ = ["LOST", "Stream"]

#: As ssh itself exits when its connection breaks.
LOST: Final = 255

_BEGIN = b"brownout: the command's output begins"
#: What a login shell prints before this line is not the command's. `exec` keeps id and start.
_ANNOUNCE = f"""\
umask 077
read -r stat < /proc/$$/stat; set_started() {{ started=${{20}}; }}; set_started ${{stat##*) }}
echo "{_BEGIN.decode()} $$ $started"
exec "$@"
"""
_SIGNAL = """
read -r stat < "/proc/$1/stat" || return 0
pid=$1 start=$2 signal=$3
set -- ${stat##*) }
[ "${20}" = "$start" ] || return 0
kill -s "$signal" "$pid"
"""
_BLOCK = 1 << 18
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Stream:
    """One running command. `pid` and `started` (in ticks) are those on its machine.

    `stdin` and `stdout` say what it reads and writes: a path, None for nothing, or PIPE for a
    pipe whose other end is then the attribute of that name. `stderr` is the path of a file to
    append to; without one, `errors` is what was said there.
    """

    def __init__(
        self,
        connection: Connection,
        command: Sequence[str],
        *,
        stdin: str | int | None = None,
        stdout: str | int | None = None,
        stderr: str | None = None,
    ) -> None:
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.errors = ""
        self.pid = self.started = 0
        self._connection, self._log = connection, stderr
        self._returncode: int | None = None
        self._ended = threading.Event()
        theirs_in, theirs_out = self._ends(stdin, stdout)
        words = " ".join(shlex.quote(str(word)) for word in command)
        line = f"exec /bin/sh -c {shlex.quote(_ANNOUNCE)} sh {words}"
        try:
            background.call(self._open(line, theirs_in, theirs_out))
        except BaseException:
            self._close_pipes()
            raise

    def poll(self) -> int | None:
        """Return how the command ended; None while it runs."""
        return self._returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return its status; raises `subprocess.TimeoutExpired`."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("ssh", timeout or 0.0)
        assert self._returncode is not None
        return self._returncode

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self._signal("TERM")

    def kill(self) -> None:
        """Send SIGKILL to the command."""
        self._signal("KILL")

    def _ends(self, stdin: str | int | None, stdout: str | int | None) -> tuple[Any, Any]:
        """Make the pipes that are wanted; return their ends of what they read and write."""
        theirs_in: Any = asyncssh.DEVNULL if stdin is None else stdin
        theirs_out: Any = asyncssh.DEVNULL if stdout is None else stdout
        if stdin == subprocess.PIPE:
            theirs_in, ours = os.pipe()
            self.stdin = os.fdopen(ours, "wb", buffering=0)
        if stdout == subprocess.PIPE:
            ours, theirs_out = os.pipe()
            self.stdout = os.fdopen(ours, "rb")
        return theirs_in, theirs_out

    def _close_pipes(self) -> None:
        for end in (self.stdin, self.stdout):
            if end is not None:
                end.close()

    async def _open(self, line: str, theirs_in: Any, theirs_out: Any) -> None:
        link = await self._connection.link()
        try:
            process = await link.create_process(
                line,
                stdin=theirs_in,
                stdout=asyncssh.PIPE,
                stderr=asyncssh.PIPE if self._log is None else os.open(self._log, _APPEND, 0o600),
                encoding=None,
                bufsize=_BLOCK,
            )
            self.pid, self.started = await self._announced(process)
            await process.redirect_stdout(theirs_out)
        except (OSError, asyncssh.Error) as error:
            raise Unreachable(f"ssh: {self._connection.where}: {error}") from error
        self._watcher = asyncio.ensure_future(self._watch(process))

    async def _announced(self, process: asyncssh.SSHClientProcess[bytes]) -> tuple[int, int]:
        """Read up to where the command's own output begins; return its id and start."""
        async for line in process.stdout:
            if line.startswith(_BEGIN):
                pid, started = line.removeprefix(_BEGIN).split()
                return int(pid), int(started)
        done = await process.wait()
        words = last_words(printed(done.stderr)) or f"status {done.returncode}"
        raise HostError(f"ssh: {self._connection.where} runs no command: {words}")

    async def _watch(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        """Wait for the end, and say what it was before it is reported."""
        try:
            done = await process.wait()
            self.errors = printed(done.stderr)
            self._returncode = LOST if done.returncode is None else done.returncode
        except (OSError, asyncssh.Error):
            self._returncode = LOST
        if self._returncode == LOST:
            self._note(f"ssh: the connection to {self._connection.where} broke")
        self._ended.set()

    def _note(self, text: str) -> None:
        self.errors += text
        if self._log is not None:
            with Path(self._log).open("a", encoding="utf-8") as log:
                log.write(f"{text}\n")

    def _signal(self, name: str) -> None:
        runner = SshRunner(self._connection)
        done = runner.run(script(_SIGNAL, self.pid, self.started, name))
        answer(done, f"SIG{name} to process {self.pid}", runner.where)
