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

import sqlalchemy as sql

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
TAKEN_OVER = "the lease of the cluster was taken over by somebody else"

_tables = sql.MetaData()
_leases = sql.Table(
    "gameday_leases",
    _tables,
    sql.Column("cluster", sql.String, primary_key=True),
    sql.Column("token", sql.String, nullable=False),
    sql.Column("day", sql.String, nullable=False),
    sql.Column("place", sql.String, nullable=False),
    sql.Column("host", sql.String, nullable=False),
    sql.Column("pid", sql.Integer, nullable=False),
    sql.Column("started", sql.BigInteger, nullable=False),
    sql.Column("expires", sql.Float, nullable=False),
    sql.Column("stop", sql.String, nullable=False, default=""),
)


_every = sql.select(_leases).order_by("cluster")


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
        """`goes on`, `died` (this machine can tell) or `expired` (so it may be taken over)."""
        if self.place == _place():
            alive = procfs.is_alive(procfs.Identity(self.pid, self.started, ()))
            return "goes on" if alive else "died"
        return "goes on" if now < self.expires else "expired"

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
        self._database.lay_out(_tables)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def now(self) -> float:
        """Return the database's clock, in seconds: hosts that share it have one clock."""
        with self._database.transaction() as connection:
            return _clock(connection)

    def held(self) -> list[Lease]:
        """Return every lease, of living and of dead holders."""
        with self._database.transaction() as connection:
            return [Lease(*row) for row in connection.execute(_every)]

    def take(self, cluster: str, day: Path) -> tuple[Lease, Lease | None]:
        """Take the lease of `cluster` for this process; also return the dead one it was taken from.

        Raises `Refused` where another game day goes on there.
        """
        mine = self._mine(cluster, day)
        for _ in range(5):
            if self._insert(mine):
                return mine, None
            other = next((held for held in self.held() if held.cluster == cluster), None)
            if other is None:
                continue  # it has just ended
            if other.state(self.now()) == "goes on":
                raise Refused(
                    f"a game day on cluster `{cluster}` goes on: {other.holder()}",
                    "wait for it, or `brownout gameday stop` it",
                )
            if self._change(other, _leases.c.expires == other.expires, **asdict(mine)):
                return mine, other
        raise Refused(f"the lease of `{cluster}` changes hands all the time", "try again")

    def renew(self, lease: Lease) -> bool:
        """Hold it for another while; False where it was taken over or let go meanwhile."""
        return self._change(lease, expires=self.now() + TTL_S)

    def asked_to_stop(self, lease: Lease) -> str:
        """Return why the holder is to stop, for the kill switch or a lost lease; else empty."""
        return next((held.stop for held in self.held() if held.token == lease.token), TAKEN_OVER)

    def ask_to_stop(self, lease: Lease, reason: str) -> None:
        """Have the holder stop, wherever it is."""
        self._change(lease, stop=reason)

    def release(self, lease: Lease) -> None:
        """Let it go, if it is still that very one."""
        with self._database.transaction() as connection:
            connection.execute(sql.delete(_leases).where(_leases.c.token == lease.token))

    def _mine(self, cluster: str, day: Path) -> Lease:
        me = procfs.identify(os.getpid())
        if me is None:
            raise RunDirectoryError("this process cannot be read from /proc")
        until, host = self.now() + TTL_S, socket.gethostname()
        return Lease(cluster, secrets.token_hex(8), str(day.absolute()), _place(), host,
                    me.pid, me.started, until, "")  # fmt: skip

    def _insert(self, mine: Lease) -> bool:
        try:
            with self._database.transaction(passing=(sql.exc.IntegrityError,)) as connection:
                connection.execute(sql.insert(_leases).values(**asdict(mine)))
        except sql.exc.IntegrityError:
            return False
        return True

    def _change(self, lease: Lease, *only: sql.ColumnElement[bool], **values: object) -> bool:
        """Change a lease; False where it is not that very one any more, or not as `only` says."""
        same = sql.and_(_leases.c.token == lease.token, *only)
        with self._database.transaction() as connection:
            changed = connection.execute(sql.update(_leases).where(same).values(**values))
            return bool(changed.rowcount)


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
        renewed, told = time.monotonic(), False
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
            if reason and not told:
                told = True
                self._stop(reason)


def _clock(connection: sql.Connection) -> float:
    if connection.dialect.name == "sqlite":
        return time.time()
    epoch = sql.extract("epoch", sql.func.clock_timestamp())
    return float(connection.execute(sql.select(epoch)).scalar_one())


def _place() -> str:
    """Return what tells this machine, since it booted, and this set of process ids from others."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{socket.gethostname()} {boot} {Path('/proc/self/ns/pid').readlink()}"
