"""What a run's own record says of where it is: phase, marks, what is broken, recovery clocks.

Pure functions over run.json and events.ndjson, so the terminal of the run and `brownout watch`
in another one say the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brownout.show.live.board import Clock, Countdown, Mark

if TYPE_CHECKING:
    from brownout.measure.episodes import Episode
    from brownout.run.events import Event

__all__ = ["Service", "clocks_of", "countdown_of", "has_ended", "marks_of", "phase_of", "title_of"]

Record = Mapping[str, Any]

TIMES = "\N{MULTIPLICATION SIGN}"
PHASES = {
    "load_started": "waiting for a stable baseline",
    "baseline_accepted": "baseline accepted",
    "method_started": "method",
    "method_ended": "waiting for redundancy and for the load to hold",
    "load_stopped": "load stopped, reading the ledger back",
}
#: Milestones as clocks: the measure that limits each.
MILESTONES = {"rejoined": "rejoin_time", "redundant": "redundancy_time"}


def title_of(record: Record) -> str:
    """Return `node-wipe (kill) · staging (3 stone 6.0.5) · lab · seed 4711`."""
    experiment, cluster = record.get("experiment") or {}, record.get("cluster") or {}
    if not experiment:
        return ""
    mode = f" ({experiment['mode']})" if experiment.get("mode") else ""
    stand_in = " STAND-IN" if cluster.get("stand_in") else ""
    engine = f"{cluster.get('members')} {TIMES} {cluster.get('engine')}"
    parts = [
        f"{experiment.get('name')}{mode}",
        f"{cluster.get('name')} ({engine}){stand_in}",
        str((record.get("workload") or {}).get("name") or ""),
        f"seed {record.get('seed')}",
    ]
    return " · ".join(part for part in parts if part)


def phase_of(events: Sequence["Event"]) -> str:
    """Return what the run does now, as its events tell it."""
    phases = [event for event in events if event.type == "phase"]
    words = PHASES.get(phases[-1].name, phases[-1].name) if phases else "opening"
    steps = [event for event in events if event.type == "note" and event.name == "step"]
    if steps and phases[-1].name == "method_started":
        words = f"{words}: {steps[-1].fields.get('activity')}"
    acts = [event for event in events if event.type in ("break", "mend")]
    if acts and acts[-1].ended is None and acts[-1].error is None:
        return f"{words}: {acts[-1].name} {acts[-1].node or ''}".rstrip()
    return words


def countdown_of(record: Record, events: Sequence["Event"], t: float) -> Countdown | None:
    """Return how long the baseline has been awaited, of the seconds that it may be."""
    names = {event.name for event in events if event.type == "phase"}
    limit = (record.get("settings") or {}).get("warmup_max_s")
    if limit and "load_started" in names and "baseline_accepted" not in names:
        return Countdown(t, float(limit))
    return None


def has_ended(events: Iterable["Event"]) -> bool:
    """Say whether the load has been stopped."""
    return any(event.type == "phase" and event.name == "load_stopped" for event in events)


def marks_of(events: Iterable["Event"]) -> tuple[Mark, ...]:
    """Return each break, mend, milestone and abort with its time, in order."""
    marks = []
    for event in events:
        t = event.effective if event.effective is not None else event.requested
        if event.type == "milestone" and not event.is_revoked:
            t = event.fields.get("first_yes")
        if t is None or event.type not in ("break", "mend", "milestone", "abort"):
            continue
        failed = " no longer" * event.is_revoked
        if event.error is not None:
            failed = " REFUSED" if event.refused else " FAILED"
        words = event.name.replace("_", " ") + (f" {event.node}" if event.node else "") + failed
        marks.append(Mark(float(t), event.type, words))
    return tuple(sorted(marks, key=lambda mark: mark.t))


@dataclass(frozen=True, slots=True)
class Service:
    """How the service of one fault is: bad last at `last_bad`, known until `known`, seconds.

    `back` is since when it is back for good, None as long as `hold_s` good seconds have not
    followed a bad one.
    """

    back: float | None
    last_bad: float
    known: float
    hold_s: float


def clocks_of(
    episode: "Episode", now: float, service: Service, limits: Mapping[str, float]
) -> tuple[Clock, ...]:
    """Return the recovery clocks of one fault at `now`, seconds since the load began."""
    begun = episode.effective
    if begun is None:
        return ()
    milestones = (_milestone(episode, name, begun, now, limits) for name in MILESTONES)
    return (_service(service, begun, limits), *milestones)


def _service(service: Service, begun: float, limits: Mapping[str, float]) -> Clock:
    """While it is good but not yet for long enough, the clock stands where it was bad last."""
    limit = limits.get("recovery_time")
    if service.back is not None:
        return Clock("service", service.back - begun, True, limit)
    good = service.known - service.last_bad
    note = f"good for {int(good)} of {service.hold_s:g} s" if good >= 1 else "not yet"
    return Clock("service", service.last_bad - begun, False, limit, note)


def _milestone(
    episode: "Episode", name: str, begun: float, now: float, limits: Mapping[str, float]
) -> Clock:
    looks = [event for event in episode.milestones if event.name == name]
    reached = next((e.fields["first_yes"] for e in looks if e.fields.get("first_yes")), None)
    missed = reached is None and any(e.fields.get("limit_s") is not None for e in looks)
    limit = limits.get(MILESTONES[name])
    since = limits.get(f"{MILESTONES[name]}_after_start")
    returns = [e.requested for e in episode.events if e.type == "mend" and e.requested is not None]
    if limit is None and since is not None and returns:
        limit = since + max(returns) - begun
    return Clock(
        name,
        (now if reached is None else float(reached)) - begun,
        reached is not None,
        limit,
        "its limit has passed" if missed else ("" if reached is not None else "not yet"),
    )
