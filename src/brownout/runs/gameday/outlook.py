"""What a game day would do and when, and everything that stands in its way; nothing is touched."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from brownout.base.words import duration
from brownout.faults.guards import Guard
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.runs.gameday import days
from brownout.runs.gameday.calendar import Calendar
from brownout.runs.gameday.freshness import freshness, known_duration, stale_words
from brownout.runs.gameday.leases import Leases
from brownout.runs.gameday.plan import calendar_for, in_order, make
from brownout.runs.gameday.schedules import clock_changes, next_times
from brownout.runs.gameday.spec import GameDay, Step

__all__ = ["plan_words"]


def plan_words(gameday: GameDay, now: datetime) -> tuple[str, bool]:
    """Return what would be done and when, in words, and whether nothing stands in the way."""
    steps, seed = in_order(gameday)
    cluster, calendar = inventory.declared(gameday.cluster), calendar_for(gameday)
    planned = [make(gameday, step) for step in steps]
    lines, ok = _standing(cluster, calendar, now)
    blocks = ["\n".join(_head(gameday, cluster, calendar, seed, now)), "\n".join(lines)]
    begin = calendar.next_opening(now)
    blocks.append("\n".join(_times(gameday, steps, calendar, begin or now)))
    for each in planned:
        words, fine = each.preview()
        ok = ok and fine
        blocks.append(
            f"── {each.step.called}\n{words.removesuffix('nothing was touched').rstrip()}"
        )
    return "\n\n".join([*blocks, "nothing was touched"]), ok


def _head(
    gameday: GameDay, cluster: Cluster, calendar: Calendar, seed: int, now: datetime
) -> Iterator[str]:
    yield f"game day     {gameday.name}" + (f": {gameday.title}" if gameday.title else "")
    yield f"cluster      {cluster.name} ({cluster.database}, {cluster.environment})"
    yield f"order        {gameday.order}" + _seed_words(gameday, seed)
    cool = gameday.cool_down
    yield (
        f"cool-down    until {cool.until}, at least {cool.at_least_s:g} s, "
        f"given up after {cool.limit_s:g} s"
    )
    yield f"after a fail {gameday.stop_on.fail}; inconclusive: {gameday.stop_on.inconclusive}"
    opening, closing = calendar.next_opening(now), calendar.closes(now)
    if opening == now:
        yield f"window       open now, {f'until {_moment(closing)}' if closing else 'and stays so'}"
    elif opening:
        yield f"window       opens {_moment(opening)}"
    if gameday.schedule is not None:
        due = next_times(gameday.schedule, now, 3)
        yield f"scheduled    {', '.join(map(_moment, due)) or 'never again'}"
        for moment in due:
            if why := calendar.why_not(moment):
                yield f"             {_moment(moment)} will not run: {why}"
        for words in clock_changes(gameday.schedule, now):
            yield f"clocks       {words}"
    for person in gameday.notify:
        yield f"tells        {person.name} of {', '.join(person.about)}"


def _standing(cluster: Cluster, calendar: Calendar, now: datetime) -> tuple[list[str], bool]:
    """Every guard of the day with its state now."""
    why = calendar.why_not(now)
    guards = [Guard("window", why is None, why or "open now"), _free(cluster.name)]
    lines = [f"  {'yes' if guard.ok else 'NO '}  {guard.name}: {guard.detail}" for guard in guards]
    return ["guards of the day", *lines], all(guard.ok for guard in guards)


def _free(cluster: str) -> Guard:
    with Leases() as leases:
        now = leases.now()
        held = [lease for lease in leases.held() if lease.cluster == cluster]
    if not held:
        return Guard("no other game day", True, "none is in progress")
    state = held[0].state(now)
    return Guard("no other game day", state != "running", f"{held[0].holder()}: {state}")


def _times(
    gameday: GameDay, steps: Sequence[Step], calendar: Calendar, begin: datetime
) -> Iterator[str]:
    """Say when each step would begin, and how old its last pass is."""
    past = [day.record for day in days.all_days()]
    fresh = {entry.name: entry for entry in freshness(gameday, past, begin)}
    yield "times" + (
        "" if begin <= datetime.now(UTC) else f", from the opening {_moment(begin)} on"
    )
    at: datetime | None = begin
    for step in steps:
        takes = known_duration(gameday, step.called, past)
        about = "how long is not known" if takes is None else (
            f"about {duration(takes.total_seconds())}"
        )  # fmt: skip
        when = "then" if at is None else f"{at.astimezone(UTC):%H:%M:%S} UTC"
        words = [when, step.called, about, stale_words(fresh[step.called], begin)]
        end = None if at is None or takes is None else at + takes
        if end is not None and calendar.why_not(end):
            words.append("does not fit into the window")
        yield "  " + "  ".join(words)
        at = None if end is None else end + timedelta(seconds=gameday.cool_down.at_least_s)


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%a %Y-%m-%d %H:%M} UTC"


def _seed_words(gameday: GameDay, seed: int) -> str:
    if not seed:
        return ""
    return f", seed {seed}" + ("" if gameday.seed else "; a run draws its own")
