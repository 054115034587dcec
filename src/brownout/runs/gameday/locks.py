"""One game day per cluster at a time: a lease in a small database, which several hosts may share.

    BROWNOUT_GAMEDAYS   its URL, as postgresql+psycopg://…; else that of BROWNOUT_HISTORY where it
                        is a server; else a SQLite file in BROWNOUT_STATE

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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sql

from brownout.base.errors import BrownoutError, ConfigurationError, Refused, RunDirectoryError
from brownout.base.files import private_directory, private_file
from brownout.faults.open_runs import state_home
from brownout.machine import procfs
from brownout.runs.history import place

__all__ = ["TTL_S", "Held", "Keeper", "Locks", "store_url"]

T = TypeVar("T")

#: Without a renewal for so long a lease has expired.
TTL_S = 60.0
RENEW_S = 10.0
POLL_S = 0.5

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


@dataclass(frozen=True, slots=True)
class Held:
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


def store_url() -> str:
    """Return the URL of the database of leases and schedules; a history's server will do.

    Raises `ConfigurationError` where BROWNOUT_HISTORY decides and is no place for anything.
    """
    if given := os.environ.get("BROWNOUT_GAMEDAYS"):
        return given
    history = place.find()
    if history is not None and history.url.get_backend_name() == "postgresql":
        return history.url.render_as_string(hide_password=False)
    return f"sqlite:///{state_home().absolute() / 'gamedays.db'}"


class Locks:
    """The leases there are. Raises `RunDirectoryError` where their database cannot be used."""

    def __init__(self, url: str | None = None) -> None:
        self._engine = _engine(url or store_url())
        self._do(lambda connection: _tables.create_all(connection))

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def now(self) -> float:
        """Return the database's clock, in seconds: hosts that share it have one clock."""
        return self._do(_clock)

    def held(self) -> list[Held]:
        """Return every lease, of living and of dead holders."""
        rows = self._do(lambda c: list(c.execute(sql.select(_leases).order_by("cluster"))))
        return [Held(*row) for row in rows]

    def take(self, cluster: str, day: Path) -> tuple[Held, Held | None]:
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
            if self._replace(other, mine):
                return mine, other
        raise Refused(f"the lease of `{cluster}` changes hands all the time", "try again")

    def renew(self, lease: Held) -> bool:
        """Hold it for another while; False where it was taken over or let go meanwhile."""
        change = _of(lease).values(expires=self.now() + TTL_S)
        return bool(self._do(lambda c: c.execute(change).rowcount))

    def asked_to_stop(self, lease: Held) -> str:
        """Return why the kill switch wants the holder to stop; empty where it does not."""
        wanted = sql.select(_leases.c.stop).where(_leases.c.token == lease.token)
        return self._do(lambda c: c.execute(wanted).scalar()) or ""

    def ask_to_stop(self, lease: Held, reason: str) -> None:
        """Have the holder stop, wherever it is."""
        self._do(lambda c: c.execute(_of(lease).values(stop=reason)))

    def release(self, lease: Held) -> None:
        """Let it go, if it is still that very one."""
        same = _leases.c.token == lease.token
        self._do(lambda c: c.execute(sql.delete(_leases).where(same)))

    def _mine(self, cluster: str, day: Path) -> Held:
        me = procfs.identify(os.getpid())
        if me is None:
            raise RunDirectoryError("this process cannot be read from /proc")
        until, host = self.now() + TTL_S, socket.gethostname()
        return Held(cluster, secrets.token_hex(8), str(day.absolute()), _place(), host,
                    me.pid, me.started, until, "")  # fmt: skip

    def _insert(self, mine: Held) -> bool:
        try:
            self._do(lambda c: c.execute(sql.insert(_leases).values(**_row(mine))))
        except sql.exc.IntegrityError:
            return False
        return True

    def _replace(self, other: Held, mine: Held) -> bool:
        """Take over; False where somebody else was quicker."""
        return bool(self._do(lambda c: c.execute(_of(other).values(**_row(mine))).rowcount))

    def _do(self, step: Callable[[sql.Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return step(connection)
        except sql.exc.IntegrityError:
            raise
        except sql.exc.SQLAlchemyError as error:
            raise RunDirectoryError(
                f"the database of game days, {self._engine.url}, cannot be used: "
                f"{str(getattr(error, 'orig', None) or error).splitlines()[0]}",
                "see BROWNOUT_GAMEDAYS and BROWNOUT_STATE",
            ) from error


class Keeper:
    """Renews a lease from a thread of its own; `stop` gets why the holder is to stop, once."""

    def __init__(self, locks: Locks, lease: Held, stop: Callable[[str], None]) -> None:
        self._locks, self._lease, self._stop = locks, lease, stop
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
                reason = self._locks.asked_to_stop(self._lease)
                if time.monotonic() - renewed > RENEW_S:
                    if not self._locks.renew(self._lease):
                        reason = "the lease of the cluster was taken over by somebody else"
                    renewed = time.monotonic()
            except BrownoutError as error:
                if time.monotonic() - renewed > TTL_S - RENEW_S:
                    reason = f"the lease of the cluster could not be renewed: {error.message}"
            if reason and not told:
                told = True
                self._stop(reason)


def _row(held: Held) -> dict[str, object]:
    return {name: getattr(held, name) for name in Held.__slots__}


def _of(lease: Held) -> sql.Update:
    return sql.update(_leases).where(_leases.c.token == lease.token)


def _clock(connection: sql.Connection) -> float:
    if connection.dialect.name == "sqlite":
        return time.time()
    epoch = sql.extract("epoch", sql.func.clock_timestamp())
    return float(connection.execute(sql.select(epoch)).scalar_one())


def _engine(url: str) -> sql.Engine:
    try:
        parsed = sql.make_url(url)
        if parsed.get_backend_name() == "sqlite":
            if parsed.database not in (None, "", ":memory:"):
                private_directory(Path(str(parsed.database)).parent)
                private_file(Path(str(parsed.database)))
            return sql.create_engine(parsed, connect_args={"timeout": 30})
        patience = {"connect_timeout": 10} if parsed.get_backend_name() == "postgresql" else {}
        return sql.create_engine(parsed, pool_pre_ping=True, connect_args=patience)
    except (sql.exc.ArgumentError, ImportError, OSError) as error:
        raise ConfigurationError(
            f"BROWNOUT_GAMEDAYS: no database that can be used: {error}",
            "wanted a URL as postgresql+psycopg://user@host/brownout, or none",
        ) from error


def _place() -> str:
    """Return what tells this machine, since it booted, and this set of process ids from others."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{socket.gethostname()} {boot} {Path('/proc/self/ns/pid').readlink()}"
