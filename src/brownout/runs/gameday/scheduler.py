"""Start game days on their schedules: APScheduler, with a store that outlives this process.

    brownout gameday serve FILE… ──▶ at its time: `brownout gameday run --scheduled FILE`

The store remembers when each was due next, so that days missed without a server are reported.
Whether a day may run then is decided by the run itself, which never begins outside its window.
"""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler

from brownout.base.errors import BrownoutError, ConfigurationError, ExitCode, Refused
from brownout.base.files import private_directory, private_file
from brownout.base.leash import leashed
from brownout.base.locks import Held, Lock
from brownout.faults.open_runs import state_home
from brownout.inventory import inventory
from brownout.runs.gameday import kill_switch
from brownout.runs.gameday.leases import Leases
from brownout.runs.gameday.notifications import Herald
from brownout.runs.gameday.schedules import trigger_of
from brownout.runs.gameday.spec import GameDay

__all__ = ["Server", "fire"]

Say = Callable[[str], None]
HEAL_WITHIN_S = 300.0
#: How many game days may run at once from here.
AT_ONCE = 8

_serving: "list[Server]" = []


class Server:
    """Serves the schedules of some game days until a signal; one a process, and one a machine."""

    def __init__(self, gamedays: Sequence[GameDay], say: Say) -> None:
        if without := [str(day.path) for day in gamedays if day.schedule is None]:
            raise ConfigurationError([f"{path}: schedule: found none" for path in without])
        self._days = {str(day.path.resolve()): day for day in gamedays}
        self._say = say
        self._running: list[subprocess.Popen[bytes]] = []
        self._ended = threading.Event()

    def serve(self) -> None:
        """Serve until a signal; game days that still run are then told to end, and awaited."""
        _serving[:] = [self]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as SIGHUP is by `nohup`
                signal.signal(number, self._heard)
        with _alone():
            scheduler = BackgroundScheduler(
                jobstores={
                    "default": SQLAlchemyJobStore(
                        url=f"sqlite:///{private_file(_home('schedules.db'))}"
                    )
                },
                executors={"default": ThreadPoolExecutor(AT_ONCE)},
                timezone=UTC,
            )
            scheduler.add_listener(self._missed, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
            scheduler.start(paused=True)
            self._schedule(scheduler)
            scheduler.resume()
            self._ended.wait()
            for process in self._running:
                process.send_signal(signal.SIGTERM)
            scheduler.shutdown(wait=True)

    def fire(self, path: str) -> None:
        """Run one game day to its end; what one that was killed left is put back."""
        gameday = self._days[path]
        self._say(f"{gameday.name} is due")
        command = [*leashed("brownout"), "gameday", "run", "--scheduled", path]
        process = subprocess.Popen(command)
        self._running.append(process)
        code = process.wait()
        self._running.remove(process)
        if code < 0:
            self._tell(gameday, f"was killed by {signal.Signals(-code).name}", self._heal(gameday))
        elif code == ExitCode.BAD_INPUT:
            self._say(f"{gameday.name} did not begin; why stands above")
        else:
            self._say(f"{gameday.name} is over, exit code {code}")

    def _schedule(self, scheduler: BackgroundScheduler) -> None:
        """Have the store hold exactly our schedules; one that it has already keeps its time."""
        for job in scheduler.get_jobs():
            if job.id not in self._days:
                self._say(f"{job.id} is not served any more")
                job.remove()
        for path, gameday in self._days.items():
            assert gameday.schedule is not None
            trigger = trigger_of(gameday.schedule)
            late_s = int(gameday.schedule.late.total_seconds())
            job = scheduler.get_job(path)
            if job is None and trigger.get_next_fire_time(None, _now()) < _now():
                self._say(f"{gameday.name} was due at {gameday.schedule.at}; nothing more is due")
                continue
            if job is None or (repr(job.trigger), job.misfire_grace_time) != (
                repr(trigger),
                late_s,
            ):
                job = scheduler.add_job(
                    fire, trigger, [path], id=path, name=gameday.name, replace_existing=True,
                    misfire_grace_time=late_s, coalesce=True, max_instances=1,
                )  # fmt: skip
            self._say(f"{gameday.name} is due at {job.next_run_time.astimezone(UTC):%F %T} UTC")

    def _missed(self, event: JobEvent) -> None:
        """Say what was not started: too late, or while the one before is still running."""
        times = getattr(event, "scheduled_run_times", None) or [event.scheduled_run_time]
        due = ", ".join(f"{moment.astimezone(UTC):%F %T} UTC" for moment in times)
        if event.code == EVENT_JOB_MISSED:
            why = f"MISSED: it was due at {due}, and it is later than `schedule.late` allows"
        else:
            why = f"MISSED: it was due at {due}, while the one before was still running"
        if gameday := self._days.get(event.job_id):
            self._tell(gameday, why)

    def _heal(self, gameday: GameDay) -> str:
        """Put back what the killed day left; return in words what state proves."""
        try:
            with Leases() as leases:
                cluster = inventory.declared(gameday.cluster).name
                lease = next((held for held in leases.held() if held.cluster == cluster), None)
                if lease is None or lease.state(leases.now()) != "died":
                    return "it held no cluster"
                why = "its process was killed"
                return kill_switch.stop(leases, lease, why, HEAL_WITHIN_S, self._say)
        except BrownoutError as error:
            return str(error)

    def _tell(self, gameday: GameDay, words: str, more: str = "") -> None:
        title = f"game day {gameday.name} on {gameday.cluster}: {words}"
        self._say(f"{title}; {more}" if more else title)
        herald = Herald(gameday.notify, self._say)
        herald.tell("fail", title, more)
        herald.close()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self._ended.set()


def fire(path: str) -> None:
    """Run a game day for the server of this process: what the store keeps is this name."""
    _serving[0].fire(path)


@contextmanager
def _alone() -> Iterator[None]:
    """Be the only server of this BROWNOUT_STATE; the kernel releases the lock in any case."""
    path = _home("serve.lock")
    lock = Lock(path)
    try:
        lock.take()
    except (Held, OSError) as error:
        raise Refused(
            f"schedules are served already by another process, which holds {path}",
            "give all files to one `brownout gameday serve`",
        ) from error
    with lock:
        yield


def _home(name: str) -> Path:
    private_directory(state_home())
    return state_home().absolute() / name


def _now() -> datetime:
    return datetime.now(UTC)
