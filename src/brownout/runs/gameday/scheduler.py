"""Start game days on their schedules: APScheduler, with a store that outlives this process.

    brownout gameday serve FILE… ──▶ at its time: `brownout gameday run --scheduled FILE`

The store remembers when each was due next, so that days missed without a server are reported, and
the watch log that a server was killed: the next one tells people at once, then puts back what a
day that died with it left. Whether a day may run then is decided by the run itself, which never
begins outside its window.
"""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from prometheus_client import CollectorRegistry, generate_latest

from brownout.base.errors import (
    BrownoutError,
    ConfigurationError,
    ExitCode,
    Refused,
    RunDirectoryError,
)
from brownout.base.files import private_directory, private_file
from brownout.base.leash import leashed
from brownout.base.locks import Held, Lock
from brownout.faults.open_runs import state_home
from brownout.inventory import inventory
from brownout.observe.address import load_shown
from brownout.runs.gameday import kill_switch, messages
from brownout.runs.gameday.days import Day, all_days
from brownout.runs.gameday.freshness import freshness
from brownout.runs.gameday.leases import Leases
from brownout.runs.gameday.messages import Message
from brownout.runs.gameday.metrics import GameDayCollector
from brownout.runs.gameday.notifications import Herald
from brownout.runs.gameday.record import Record, StepRecord
from brownout.runs.gameday.schedules import next_times, trigger_of
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.watch_log import WatchLog

__all__ = ["Server", "fire"]

Say = Callable[[str], None]
HEAL_WITHIN_S = 300.0
#: So often passes are looked at, and the log says that the server is there.
LOOK_EVERY_S = 60.0
#: How many game days may run at once from here.
AT_ONCE = 8

_serving: "list[Server]" = []


class Server:
    """Serves the schedules of some game days until a signal; one a process, and one a machine."""

    def __init__(self, gamedays: Sequence[GameDay], say: Say, listen: str = "") -> None:
        if without := [str(day.path) for day in gamedays if day.schedule is None]:
            raise ConfigurationError([f"{path}: schedule: found none" for path in without])
        self._days = {str(day.path.resolve()): day for day in gamedays}
        self._say, self._listen = say, listen
        self._log = WatchLog()
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
            self._log = WatchLog.read()
            before = replace(self._log)
            self._log.serve()
            with load_shown(self._listen, "gamedays", self._say, self._metrics):
                self._succeed(before)
                scheduler.start(paused=True)
                self._schedule(scheduler)
                scheduler.resume()
                while True:
                    self._look_at_passes()
                    self._log.save()
                    if self._ended.wait(LOOK_EVERY_S):
                        break
                for process in self._running:
                    process.send_signal(signal.SIGTERM)
                scheduler.shutdown(wait=True)
            self._log.end()

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
            self._bury(gameday, f"its process was killed by {signal.Signals(-code).name}")
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
            due = trigger.get_next_fire_time(None, _now())
            if job is None and (due is None or due < _now()):
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
            why = "nothing started it within `schedule.late`"
        else:
            why = "the one before was still running"
        if gameday := self._days.get(event.job_id):
            self._log.miss(event.job_id, times[-1].timestamp())
            self._tell(gameday, messages.missed(gameday, due, why, self._next(gameday)))

    def _succeed(self, before: WatchLog) -> None:
        """Where the server before was killed, tell people first, then see what it left."""
        if not before.pid:
            return
        for gameday in self._days.values():
            why = f"process {before.pid} of `brownout gameday serve`, last seen {before.seen}, died"
            self._tell(gameday, messages.server_died(gameday, why, self._next(gameday)))
        for gameday in self._days.values():
            self._bury(gameday, "it died with its server")

    def _bury(self, gameday: GameDay, why: str) -> None:
        """Put back what a day that died left, if one did, and tell people what state proves."""
        broken = False
        try:
            with Leases() as leases:
                cluster = inventory.declared(gameday.cluster).name
                lease = next((held for held in leases.held() if held.cluster == cluster), None)
                if lease is None or lease.state(leases.now()) != "died":
                    return
                day = Path(lease.day)
                try:
                    state = kill_switch.stop(leases, lease, why, HEAL_WITHIN_S, self._say)
                except BrownoutError as error:
                    state, broken = str(error), True
        except BrownoutError as error:
            day, state, broken = Path(), str(error), True
        self._tell(gameday, messages.died(gameday, why, state, _step_in(day), broken))

    def _look_at_passes(self) -> None:
        """Tell people once of each pass that became stale."""
        past, now, reported = self._past(), _now(), set(self._log.stale)
        stale = {
            f"{gameday.path.resolve()} {entry.name} {entry.passed}": (gameday, entry)
            for gameday in self._days.values()
            for entry in freshness(gameday, past, now)
            if entry.stale and entry.passed is not None
        }
        self._log.stale = sorted(stale)
        for key in stale.keys() - reported:
            gameday, entry = stale[key]
            self._tell(gameday, messages.stale(gameday, entry, self._next(gameday), now))

    def _metrics(self) -> str:
        registry = CollectorRegistry()
        registry.register(GameDayCollector(list(self._days.values()), self._past, self._log))
        return generate_latest(registry).decode()

    def _past(self) -> list[Record]:
        return [day.record for day in all_days()]

    def _next(self, gameday: GameDay) -> datetime | None:
        assert gameday.schedule is not None
        return next(iter(next_times(gameday.schedule, _now(), 1)), None)

    def _tell(self, gameday: GameDay, message: Message) -> None:
        self._say(message.title)
        for line in message.body.splitlines():
            self._say(f"  {line}")
        herald = Herald(gameday.notify, self._say)
        herald.tell(message)
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


def _step_in(day: Path) -> StepRecord | None:
    """Return the step that was running in a day that died."""
    try:
        steps = Day.open(day).record.steps
    except RunDirectoryError:
        return None
    return next((step for step in steps if step.status == "running"), None)


def _home(name: str) -> Path:
    private_directory(state_home())
    return state_home().absolute() / name


def _now() -> datetime:
    return datetime.now(UTC)
