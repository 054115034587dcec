"""Start game days on their schedules: APScheduler, with a store that outlives this process.

    brownout gameday serve FILE… ──▶ at its time: `brownout gameday run --scheduled FILE`

The store remembers when each was due next, so that days missed without a server are reported, and
the watch log that a server was killed: the next one tells people at once, then puts back what a
day that died with it left. Whether a day may run then is decided by the run itself, which never
begins outside its window.
"""

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Literal

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.pool import ThreadPoolExecutor
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
from brownout.observe.address import metrics_shown
from brownout.run.events import wall_clock
from brownout.runs.gameday import kill_switch, messages
from brownout.runs.gameday.days import Day, all_days
from brownout.runs.gameday.freshness import freshness
from brownout.runs.gameday.job_store import JobStore
from brownout.runs.gameday.leases import Lease, Leases
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
#: So often passes and inherited days are looked at, and the log says that the server is there.
LOOK_EVERY_S = 60.0
#: How many game days may run at once from here.
AT_ONCE = 8

_serving: "list[Server]" = []


class Server:
    """Serves the schedules of some game days until a signal; one a process, and one a machine."""

    def __init__(self, gamedays: Sequence[GameDay], say: Say, listen: str = "") -> None:
        self._days = {str(day.path.resolve()): day for day in gamedays}
        if problems := [*_unscheduled(self._days.values()), *_repeated(self._days.values())]:
            raise ConfigurationError(problems)
        self._say, self._listen = say, listen
        self._log, self._log_fails = WatchLog(), False
        #: Days that the server before may have left, by file, with when it had started them.
        self._inherited: dict[str, str] = {}
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
                    "default": JobStore(private_file(_home("schedules.db")), self._say),
                },
                executors={"default": ThreadPoolExecutor(AT_ONCE)},
                timezone=UTC,
            )
            scheduler.add_listener(self._missed, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
            self._log = WatchLog.read()
            before = replace(self._log)
            self._log.serve()
            self._save_log()
            with metrics_shown(self._listen, "gamedays", self._say, self._metrics):
                self._succeed(before)
                self._look_at_inherited()
                scheduler.start(paused=True)
                self._schedule(scheduler)
                scheduler.resume()
                while True:
                    self._look_at_passes()
                    self._save_log()
                    if self._ended.wait(LOOK_EVERY_S):
                        break
                    self._look_at_inherited()
                for process in self._running:
                    process.send_signal(signal.SIGTERM)
                scheduler.shutdown(wait=True)
            self._log.end()
            self._save_log()

    def fire(self, path: str) -> None:
        """Run one game day to its end; what one that was killed left is put back."""
        gameday = self._days[path]
        self._say(f"{gameday.name} is due")
        command = [*leashed("brownout"), "gameday", "run", "--scheduled", path]
        self._log.running[path] = wall_clock()
        self._save_log()
        process = subprocess.Popen(command)
        self._running.append(process)
        code = process.wait()
        self._running.remove(process)
        del self._log.running[path]
        self._save_log()
        if code < 0:
            why = f"its process was killed by {signal.Signals(-code).name}"
            if self._bury(gameday, why) != "died":
                self._report_early_death(gameday, why)
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
            self._tell(gameday, messages.missed(gameday, due, why, self._next(gameday)))
            self._log.miss(event.job_id)
            self._save_log()

    def _succeed(self, before: WatchLog) -> None:
        """Where the server before was killed, tell people, and remember what it may have left."""
        if not before.pid:
            return
        for gameday in self._days.values():
            why = f"process {before.pid} of `brownout gameday serve`, last seen {before.seen}, died"
            self._tell(gameday, messages.server_died(gameday, why, self._next(gameday)))
        self._inherited = {path: before.running.get(path, "") for path in self._days}

    def _look_at_inherited(self) -> None:
        """See what became of each day that the server before left; one that still runs may yet die.

        Told to end by the death of its server, a day concludes itself where it can.
        """
        why = "its server was killed"
        for path, began in list(self._inherited.items()):
            gameday = self._days[path]
            fate = self._bury(gameday, why)
            if fate == "running":
                continue
            del self._inherited[path]
            if fate == "none" and began and not _concluded(gameday, began):
                self._report_early_death(gameday, why)

    def _report_early_death(self, gameday: GameDay, why: str) -> None:
        self._tell(gameday, messages.died_without_cluster(gameday, why))
        self._log.die(str(gameday.path.resolve()))
        self._save_log()

    def _bury(self, gameday: GameDay, why: str) -> Literal["died", "running", "none"]:
        """Put back what a day that died left, and tell people what state proves.

        Returns what became of the day: `none` holds the cluster. What another game day left on
        the same cluster is not touched.
        """
        broken = False
        try:
            with Leases() as leases:
                cluster = inventory.declared(gameday.cluster).name
                held = [each for each in leases.held() if each.cluster == cluster]
                lease = next((each for each in held if _is_of(each, gameday)), None)
                if lease is None:
                    return "none"
                if lease.state(leases.now()) == "running":
                    return "running"
                day = Path(lease.day)
                try:
                    state = kill_switch.stop(leases, lease, why, HEAL_WITHIN_S, self._say)
                except BrownoutError as error:
                    state, broken = str(error), True
        except BrownoutError as error:
            day, state, broken = Path(), str(error), True
        self._tell(gameday, messages.died(gameday, why, state, _step_in(day), broken))
        return "died"

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

    def _save_log(self) -> None:
        """Write the watch log; that it cannot be written is said once, and serving continues."""
        try:
            self._log.save()
        except RunDirectoryError as error:
            if not self._log_fails:
                self._say(f"{error}; until then the next server does not know of this one's days")
            self._log_fails = True
        else:
            self._log_fails = False

    def _tell(self, gameday: GameDay, message: Message) -> None:
        self._say(message.title)
        for line in message.body.splitlines():
            self._say(f"  {line}")
        herald = Herald(gameday.notify, self._say)
        herald.tell(message)
        herald.close()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self._ended.set()


def _unscheduled(gamedays: Iterable[GameDay]) -> list[str]:
    return [f"{day.path}: schedule: found none" for day in gamedays if day.schedule is None]


def _repeated(gamedays: Iterable[GameDay]) -> Iterator[str]:
    """Name each file whose game day has the same name and cluster as an earlier one."""
    first: dict[tuple[str, str], Path] = {}
    for day in gamedays:
        own = (day.name, inventory.declared(day.cluster).name)
        if own in first:
            yield (
                f"{day.path}: name: found `{day.name}` on cluster `{own[1]}`, as in {first[own]}; "
                "wanted a name of its own for each game day of a cluster"
            )
        first.setdefault(own, day.path)


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


def _is_of(lease: Lease, gameday: GameDay) -> bool:
    """Whether a lease's day is one of this game day; its directory says so before its record."""
    day = Path(lease.day)
    try:
        return Day.open(day).record.name == gameday.name
    except RunDirectoryError:
        return re.fullmatch(rf"[^-]+-{re.escape(gameday.name)}(-\d+)?", day.name) is not None


def _concluded(gameday: GameDay, began: str) -> bool:
    """Whether a day that was started at `began` has its verdict."""
    records = [day.record for day in all_days(gameday.name)]
    return any(
        record.verdict and record.began >= began and record.inventory == gameday.cluster
        for record in records
    )


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
