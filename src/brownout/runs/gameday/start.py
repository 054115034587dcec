"""From `brownout gameday run` to a day that is conducted: the order in which all is made sure.

window ▶ lease ▶ what a dead day left is put back ▶ each step checked ▶ the day
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import Aborted, Refused, RunDirectoryError, UndoFailed
from brownout.inventory import inventory
from brownout.run.events import wall_clock
from brownout.runs import repair
from brownout.runs.gameday import days
from brownout.runs.gameday.conduct import Conductor
from brownout.runs.gameday.days import Day
from brownout.runs.gameday.leases import Keeper, Lease, Leases
from brownout.runs.gameday.plan import ReadyStep, calendar_for, in_order, make
from brownout.runs.gameday.record import Record, StepRecord, verdict_of
from brownout.runs.gameday.spec import GameDay, Step
from brownout.runs.gameday.stop import Stop

__all__ = ["run", "unfinished"]

Say = Callable[[str], None]
LEFTOVERS_WITHIN_S = 300.0


def run(gameday: GameDay, resume: bool, say: Say) -> Day:
    """Run a game day, or the rest of its last one, and return it with its verdict.

    Raises `Refused` where it may not begin, and then nothing was touched.
    """
    if why := calendar_for(gameday).why_not(datetime.now(UTC)):
        raise Refused(f"game day {gameday.name} does not run now: {why}", "nothing was touched")
    with _leased(gameday, resume, say) as (day, leases, lease, dead):
        stop = Stop(gameday.abort_if, day.path)
        with closing(Keeper(leases, lease, stop.ask)):
            if dead is not None:
                state = dead.state(leases.now())
                say(
                    f"the lease of {lease.cluster} was held by {dead.holder()}: {state}; taken over"
                )
                _succeed(day, dead)
            if resume or dead is not None:
                repair.put_back(lease.cluster, "the game day died", LEFTOVERS_WITHIN_S, say)
            planned = [make(gameday, step) for step in _steps(gameday, day)]
            _check(planned)
            if resume:
                _say_what_was_lost(day, say)
            conductor = Conductor(gameday, day, planned, stop, say)
            try:
                conductor.run()
                if conductor.lost is not None:
                    raise conductor.lost
            except (RunDirectoryError, OSError) as error:
                raise _end_of(day.record, error) from error
    conductor.close()
    return day


def _end_of(record: Record, error: RunDirectoryError | OSError) -> Exception:
    """Return how a day ends that lost its records: by what of the cluster is known."""
    if record.unmended:
        return UndoFailed(f"{record.unmended}; {error}", f"`brownout heal {record.cluster}`")
    if any(step.began for step in record.steps):
        return Aborted(f"the game day was aborted: {error}")
    return error


def unfinished(gameday: GameDay) -> Day:
    """Return the last day of this game day; raises `Refused` where nothing of it is left to do."""
    past = days.all_days(gameday.name)
    if not past:
        raise Refused(f"found no game day {gameday.name} to resume in {days.root()}",
                      "run it without --resume")  # fmt: skip
    day = past[-1]
    planned = {step.called: (step.experiment, step.variables) for step in gameday.experiments}
    recorded = {step.name: (step.experiment, step.variables) for step in day.record.steps}
    if (planned, gameday.cluster) != (recorded, day.record.inventory):
        raise Refused(f"{gameday.path} is not what it was when {day.path} began: its experiments "
                      "or its cluster are others", "run it without --resume")  # fmt: skip
    if not day.record.remaining:
        raise Refused(f"nothing is left to do of {day.path}: every experiment has its verdict",
                      "run it without --resume")  # fmt: skip
    return day


@contextmanager
def _leased(
    gameday: GameDay, resume: bool, say: Say
) -> Iterator[tuple[Day, Leases, Lease, Lease | None]]:
    """Hold the cluster's lease, and have the day's directory, new or the resumed one."""
    cluster = inventory.declared(gameday.cluster).name
    day = unfinished(gameday) if resume else _new(gameday, cluster)
    try:
        with Leases() as leases:
            lease, dead = leases.take(cluster, day.path)
            try:
                yield day, leases, lease, dead
            finally:
                # Without its database the lease expires, or is taken from a dead process.
                try:
                    leases.release(lease)
                except RunDirectoryError as error:
                    say(f"the lease of {cluster} was not released: {error.message}")
    except Refused:
        if not resume and not any(step.began for step in day.record.steps):
            shutil.rmtree(day.path)
        raise


def _succeed(day: Day, dead: Lease) -> None:
    """Close the record of the dead day that another one follows, and take down its lab at the end.

    The record of another host is not here.
    """
    if Path(dead.day) == day.path:
        return
    with suppress(RunDirectoryError):
        before = Day.open(Path(dead.day))
        day.record.brought_up |= before.record.brought_up
        before.record.died, before.record.ended = True, wall_clock()
        before.record.stopped = f"it died; {day.path.name} put back what it left"
        before.record.verdict = verdict_of(before.record)
        before.save()


def _new(gameday: GameDay, cluster: str) -> Day:
    steps, seed = in_order(gameday)
    record = Record(
        name=gameday.name,
        title=gameday.title,
        cluster=cluster,
        inventory=gameday.cluster,
        inventory_path=str(inventory.path_of(gameday.cluster)),
        file=str(gameday.path),
        seed=seed,
        steps=[StepRecord(step.called, step.experiment, dict(step.variables)) for step in steps],
        began=wall_clock(),
    )
    return Day(days.new_place(gameday.name), record)


def _steps(gameday: GameDay, day: Day) -> list[Step]:
    """Return the steps that remain, as the file has them."""
    by_name = {step.called: step for step in gameday.experiments}
    return [by_name[step.name] for step in day.record.remaining]


def _say_what_was_lost(day: Day, say: Say) -> None:
    """Name each step whose result does not count, and take the day up again."""
    done = [step.name for step in day.record.steps if step.done]
    say(f"resuming {day.path}; done: {', '.join(done) or 'nothing'}")
    for step in day.record.remaining:
        if step.status != "waiting":
            how = step.verdict or "cut off"
            words = f"lost: {step.name}, begun {step.began}, was {how}; it is run again"
            say(words)
            day.note(words)
    day.record.verdict, day.record.ended, day.record.stopped = "", "", ""
    day.record.unmended, day.record.proof, day.record.died = "", "", False
    day.save()


def _check(planned: Sequence[ReadyStep]) -> None:
    """Raise `Refused` with all that stands against any step."""
    problems = []
    for each in planned:
        words, fine = each.preview()
        if not fine:
            said_no = [line.strip() for line in words.splitlines() if line.startswith("  NO ")]
            problems += [f"{each.step.called}: {line.removeprefix('NO ').strip()}"
                         for line in said_no]  # fmt: skip
    if problems:
        raise Refused("no experiment was begun: " + "; ".join(dict.fromkeys(problems)),
                      "`brownout gameday plan` says more")  # fmt: skip
