"""One machine that scripts are run on by ssh, over a connection that is kept and made again.

The connection may break whenever a fault is meant to break it. What was under way is then run
again on a new one: every script of ours is safe to repeat, because it names a process, a
directory or a boot by identity.
"""

import asyncio
import time

import asyncssh
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, stop_after_delay
from tenacity.stop import stop_base
from tenacity.wait import wait_random_exponential

from brownout.base.errors import HostError
from brownout.machine.commands import Completed, printed
from brownout.machine.ssh import background
from brownout.machine.ssh.failures import SUDO, Unreachable, name_of, sudo_problem
from brownout.machine.ssh.spec import Login
from brownout.machine.ssh.trust import log_in, user_of

__all__ = ["Connection", "SshRunner"]

#: What asyncssh says of a connection that is about to be closed.
_CLOSING = "SSH connection closed"


class Connection:
    """A way to one machine. Made at its first use; any thread may use it."""

    def __init__(self, login: Login, bastion: "Connection | None" = None) -> None:
        self.login, self.where = login, name_of(login)
        self._bastion = bastion
        self._link: asyncssh.SSHClientConnection | None = None
        self._was_there = False
        self._opening: asyncio.Lock | None = None
        #: When a connection was last seen to be broken, as `time.monotonic()`.
        self.lost_at: float | None = None

    def run(self, command: str, text: str, timeout_s: float) -> Completed:
        """Run `command` with `text` as its input; again on a new connection if this one breaks."""
        return background.call(self._run(command, text.encode(errors="surrogateescape"), timeout_s))

    def connect(self) -> None:
        """Log in now instead of at the first command."""
        background.call(self.link())

    def drop(self) -> None:
        """Close the connection without a word, as a cut cable would; the next use makes another."""
        background.call(self._close(abort=True))

    def close(self) -> None:
        """Close the connection in order."""
        background.call(self._close(abort=False))

    async def link(self) -> asyncssh.SSHClientConnection:
        """Return the living connection, made if there is none; for code on the event loop."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._link is None or self._link.is_closed():
                self._link = await self._open()
                self._was_there = True
            return self._link

    async def _open(self) -> asyncssh.SSHClientConnection:
        """Log in. A machine that was reached before is tried for `reconnect_s`, else once."""
        patience: stop_base = stop_after_attempt(1)
        if self._was_there:
            patience = stop_after_delay(self.login.reconnect_s)
        attempts = AsyncRetrying(
            retry=retry_if_exception_type(Unreachable),
            stop=patience,
            wait=wait_random_exponential(multiplier=0.2, max=2.0),
            reraise=True,
        )
        return await attempts(self._open_once)

    async def _open_once(self) -> asyncssh.SSHClientConnection:
        tunnel = await self._bastion.link() if self._bastion else None
        return await log_in(self.login, tunnel)

    async def _run(self, command: str, data: bytes, timeout_s: float) -> Completed:
        link = await self.link()
        first = sent = time.monotonic()
        attempt = 1
        while (done := await self._run_once(link, command, data, timeout_s)) is None:
            self.lost_at = time.monotonic()
            if self.lost_at > first + timeout_s + self.login.reconnect_s:
                raise Unreachable(f"ssh: the connection to {self.where} breaks again and again")
            link = await self.link()
            sent = time.monotonic()
            attempt += 1
        return Completed(*done, sent, time.monotonic(), first, attempt)

    async def _run_once(
        self, link: asyncssh.SSHClientConnection, command: str, data: bytes, timeout_s: float
    ) -> tuple[int, str, str] | None:
        """Return status, output and errors; None if the connection broke meanwhile."""
        try:
            done = await link.run(command, input=data, encoding=None, timeout=timeout_s)
        except asyncssh.TimeoutError as error:
            raise HostError(
                f"ssh: a script did not end within {timeout_s:g} s on {self.where}"
            ) from error
        except (OSError, asyncssh.DisconnectError):
            await _gone(link)
            return None
        except asyncssh.ChannelOpenError as error:
            if link.is_closed() or error.reason == _CLOSING:
                await _gone(link)
                return None
            raise HostError(f"ssh: {self.where} opens no session: {error.reason}") from error
        if done.returncode is None:
            await _gone(link)
            return None
        return done.returncode, printed(done.stdout), printed(done.stderr)

    async def _close(self, *, abort: bool) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        if abort:
            link.abort()
        else:
            link.close()
        await link.wait_closed()


class SshRunner:
    """Runs scripts over a connection, by `sudo -n` where that is wanted."""

    def __init__(self, connection: Connection, sudo: bool = False) -> None:
        self._connection, self._sudo = connection, sudo
        self.where = connection.where

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run a script that may safely run twice."""
        command = SUDO if self._sudo else "/bin/sh -s"
        done = self._connection.run(command, text, timeout_s)
        if self._sudo:
            login = self._connection.login
            problem = sudo_problem(done.status, done.errors, login, user_of(login))
            if problem is not None:
                raise problem
        return done


async def _gone(link: asyncssh.SSHClientConnection) -> None:
    """Give a broken connection up for good, so that it is not mistaken for a living one."""
    link.abort()
    await link.wait_closed()
