"""One game day per cluster at a time: a lease in a small database, which several hosts may share.

A lock (`base.locks`) is of one machine, and its kernel knows when its holder dies; a lease reaches
other hosts, and says how to stop its holder.

    BROWNOUT_GAMEDAYS   a file by its whole path, or a URL as postgresql://…; else that of
                        BROWNOUT_HISTORY where it is a server; else a SQLite file in BROWNOUT_STATE

A lease is held by a process and renewed while that lives. One whose process is dead, as its own
machine can tell, is taken over at once; one of another machine when it has expired. What the kill
switch wants of the holder stands in the lease, so that it reaches other hosts too.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from brownout.base.errors import BrownoutError, ConfigurationError, Refused, RunDirectoryError
from brownout.faults.open_runs import state_home
from brownout.machine import procfs
from brownout.runs.database import Database, Place, place_of
from brownout.runs.history import place as history

__all__ = ["TTL_S", "Keeper", "Lease", "Leases", "find"]

VARIABLE = "BROWNOUT_GAMEDAYS"
#: Without a renewal for so long a lease has expired.
TTL_S = 60.0
RENEW_S = 10.0
POLL_S = 0.5
TAKEN_OVER = "the lease of the cluster was taken over by another process"

_TABLE = """
    CREATE TABLE gameday_leases (
        cluster VARCHAR NOT NULL,
        token VARCHAR NOT NULL,
        day VARCHAR NOT NULL,
        place VARCHAR NOT NULL,
        host VARCHAR NOT NULL,
        pid INTEGER NOT NULL,
        started BIGINT NOT NULL,
        expires FLOAT NOT NULL,
        stop VARCHAR NOT NULL,
        PRIMARY KEY (cluster)
    )
"""
_COLUMNS = "cluster, token, day, place, host, pid, started, expires, stop"
_INSERT = f"""
    INSERT INTO gameday_leases ({_COLUMNS})
    VALUES (:cluster, :token, :day, :place, :host, :pid, :started, :expires, :stop)
    ON CONFLICT (cluster) DO NOTHING
"""
_TAKE_OVER = """
    UPDATE gameday_leases
    SET token = :token, day = :day, place = :place, host = :host, pid = :pid, started = :started,
        expires = :expires, stop = :stop
    WHERE token = :token_before AND expires = :expires_before
"""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease. `day` is the game day's directory, `place` the machine and its process ids."""

    cluster: str
    token: str
    day: str
    place: str
    host: str
    pid: int
    started: int
    expires: float
    stop: str

    def state(self, now: float) -> str:
        """`running`, `died` (known on its own machine) or `expired` (so it may be taken over)."""
        if self.place == _place():
            alive = procfs.is_alive(procfs.Identity(self.pid, self.started, ()))
            return "running" if alive else "died"
        return "running" if now < self.expires else "expired"

    def holder(self) -> str:
        """`process 4711 on host db1, game day runs/gamedays/…`."""
        return f"process {self.pid} on host {self.host}, game day {self.day}"


def find() -> Place:
    """Return where the leases are; a history's server will do.

    Raises `ConfigurationError` where the variable that decides names no place.
    """
    if given := os.environ.get(VARIABLE):
        place = place_of(given, VARIABLE)
        if place.is_server or given.startswith(("/", "~", "sqlite:////")):
            return place
        raise ConfigurationError(
            f"{VARIABLE}: wanted a file by its whole path, or postgresql://…, found neither: every "
            "game day has to find the same leases, wherever it is started"
        )
    shared = history.find()
    if shared is not None and shared.is_server:
        return shared
    return place_of(str(state_home() / "gamedays.db"), VARIABLE)


class Leases:
    """The leases there are. Raises `RunDirectoryError` where their database cannot be used."""

    def __init__(self, place: Place | None = None) -> None:
        hint = "see BROWNOUT_GAMEDAYS and BROWNOUT_STATE"
        self._database = Database(place or find(), "leases", RunDirectoryError, hint)
        self._database.lay_out("gameday_leases", [_TABLE])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def now(self) -> float:
        """Return the database's clock, in seconds: hosts that share it have one clock."""
        if not self._database.place.is_server:
            return time.time()
        with self._database.transaction() as transaction:
            clock = transaction.execute("SELECT extract(epoch FROM clock_timestamp())")
            return float(clock.fetchone()[0])

    def held(self) -> list[Lease]:
        """Return every lease, of living and of dead holders."""
        every = f"SELECT {_COLUMNS} FROM gameday_leases ORDER BY cluster"
        with self._database.transaction() as transaction:
            return [Lease(*row) for row in transaction.execute(every)]

    def take(self, cluster: str, day: Path) -> tuple[Lease, Lease | None]:
        """Take the lease of `cluster` for this process; also return the dead one it was taken from.

        Raises `Refused` where another game day is in progress.
        """
        mine = self._mine(cluster, day)
        for _ in range(5):
            if self._change(_INSERT, **asdict(mine)):
                return mine, None
            other = next((held for held in self.held() if held.cluster == cluster), None)
            if other is None:
                continue  # it has just ended
            if other.state(self.now()) == "running":
                raise Refused(
                    f"a game day is in progress on cluster `{cluster}`: {other.holder()}",
                    "wait for it, or `brownout gameday stop` it",
                )
            before = {"token_before": other.token, "expires_before": other.expires}
            if self._change(_TAKE_OVER, **asdict(mine), **before):
                return mine, other
        raise Refused(f"the lease of `{cluster}` changes hands all the time", "try again")

    def renew(self, lease: Lease) -> bool:
        """Extend it; False if it was taken over or released meanwhile."""
        renew = "UPDATE gameday_leases SET expires = :expires WHERE token = :token"
        return self._change(renew, token=lease.token, expires=self.now() + TTL_S)

    def asked_to_stop(self, lease: Lease) -> str:
        """Return why the holder is to stop, for the kill switch or a lost lease; else empty."""
        return next((held.stop for held in self.held() if held.token == lease.token), TAKEN_OVER)

    def ask_to_stop(self, lease: Lease, reason: str) -> None:
        """Have the holder stop, wherever it is."""
        ask = "UPDATE gameday_leases SET stop = :reason WHERE token = :token"
        self._change(ask, token=lease.token, reason=reason)

    def release(self, lease: Lease) -> None:
        """Release it, if it is still that very one."""
        self._change("DELETE FROM gameday_leases WHERE token = :token", token=lease.token)

    def _mine(self, cluster: str, day: Path) -> Lease:
        me = procfs.identify(os.getpid())
        if me is None:
            raise RunDirectoryError("this process cannot be read from /proc")
        until, host = self.now() + TTL_S, socket.gethostname()
        return Lease(cluster, secrets.token_hex(8), str(day.absolute()), _place(), host,
                    me.pid, me.started, until, "")  # fmt: skip

    def _change(self, statement: str, **values: object) -> bool:
        """Carry out a statement; return whether there was a lease for it."""
        with self._database.transaction() as transaction:
            return bool(transaction.execute(statement, values).rowcount)


class Keeper:
    """Renews a lease from a thread of its own; `stop` gets why the holder is to stop, once."""

    def __init__(self, leases: Leases, lease: Lease, stop: Callable[[str], None]) -> None:
        self._leases, self._lease, self._stop = leases, lease, stop
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="game day's lease", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Renew it no more."""
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        renewed, reported = time.monotonic(), False
        while not self._ended.wait(POLL_S):
            reason = ""
            try:
                reason = self._leases.asked_to_stop(self._lease)
                if time.monotonic() - renewed > RENEW_S:
                    if not self._leases.renew(self._lease):
                        reason = TAKEN_OVER
                    renewed = time.monotonic()
            except BrownoutError as error:
                if time.monotonic() - renewed > TTL_S - RENEW_S:
                    reason = f"the lease of the cluster could not be renewed: {error.message}"
            if reason and not reported:
                reported = True
                self._stop(reason)


def _place() -> str:
    """Return what tells this machine, since it booted, and this set of process ids from others."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{socket.gethostname()} {boot} {Path('/proc/self/ns/pid').readlink()}"
