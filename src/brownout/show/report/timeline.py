"""What happened to the cluster, moment by moment: who was broken, who took over, when all was back.

Each moment has its seconds since the schedule's start, as the figures have, and the time of day,
as logs and monitoring have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from brownout.measure.failover import Succession
from brownout.measure.impact import Act, Fault, Impact
from brownout.show.report.material import Happening
from brownout.show.report.story import event_words
from brownout.show.report.words import early_words

__all__ = ["Moment", "numbered", "timeline"]

_NEVER = {
    "rejoined": "not every member rejoined before the run ended",
    "redundant": "redundancy was not back before the run ended",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened at `t` seconds, at `clock` (UTC); neither where it never happened.

    `number` is the one that the figures show; `kind` is an event's type, or `succession`.
    """

    t: float | None
    clock: str
    words: str
    kind: str
    number: int | None = None

    @property
    def line(self) -> str:
        """`at 20.4 s (14:03:12 UTC): n1 killed`."""
        if self.t is None:
            return self.words
        clock = f" ({self.clock})" if self.clock else ""
        return f"at {self.t:.1f} s{clock}: {self.words}"


def timeline(impact: Impact) -> list[Moment]:
    """Return what happened in order of time; last, what did not."""
    moments = [each for fault in impact.faults for each in _moments(fault, impact)]
    return sorted(moments, key=lambda each: float("inf") if each.t is None else each.t)


def numbered(moments: Sequence[Moment], happenings: Sequence[Happening]) -> list[Moment]:
    """Return `moments` with the numbers that the figures give to them.

    impact.json rounds its times to a microsecond, the events do not.
    """
    left = [each for each in happenings if each.number is not None and each.t is not None]
    result = []
    for moment in moments:
        same = [h for h in left if h.kind == moment.kind and _close(h.t, moment.t)]
        result.append(replace(moment, number=same[0].number) if same else moment)
        left = [each for each in left if each not in same[:1]]
    return result


def _close(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) < 1e-3


def _moments(fault: Fault, impact: Impact) -> Iterator[Moment]:
    for act in fault.events:
        t = act.requested if act.effective is None else act.effective
        yield _moment(t, _act_words(act, fault, impact), act.type, impact)
    for each in fault.successions:
        if (words := _succession_words(each, fault, impact)) is None:
            continue
        came = fault.effective is not None and each.first_yes is not None
        t = fault.effective + each.first_yes if came else None  # type: ignore[operator]
        yield _moment(t, words, "succession", impact)
    last = {each.name: each for each in fault.milestones if not each.revoked}
    for name, milestone in last.items():
        words = event_words(name, None) if milestone.first_yes is not None else _NEVER.get(name)
        if words:
            yield _moment(milestone.first_yes, words, "milestone", impact)


def _act_words(act: Act, fault: Fault, impact: Impact) -> str:
    """`n1, the primary of s1, killed`."""
    node = act.node
    if node and act.type == "break" and (role := _role(act, fault, impact)):
        node = f"{node}, {role},"
    words = event_words(act.name, node)
    if act.effective is None:
        return f"{words}: requested, its effect is not proven"
    lasted = early_words(act.evidence)
    return f"{words}; it ended by itself after {lasted}" if lasted else words


def _role(act: Act, fault: Fault, impact: Impact) -> str:
    """What the node was for the database when it was broken; empty where it had no role."""
    led = next((each for each in fault.successions if each.before == act.node), None)
    role = str(act.evidence.get("role") or ("primary" if led else ""))
    if role not in ("primary", "secondary"):
        return ""
    word = impact.role_word(role)
    if role == "secondary":
        return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
    shard = f" of {led.shard}" if led and led.shard else ""
    return f"the {word}{shard}"


def _succession_words(each: Succession, fault: Fault, impact: Impact) -> str | None:
    """Say who became primary; None where the same one still was, or none was needed."""
    primary = impact.role_word("primary")
    of = f"{primary} of {each.shard}" if each.shard else primary
    if each.after is not None:
        return None if each.after == each.before else f"{each.after} took over as {of}"
    needed = each.before in {act.node for act in fault.events if act.type == "break"}
    return f"no node was seen as the next {of} before the run ended" if needed else None


def _moment(t: float | None, words: str, kind: str, impact: Impact) -> Moment:
    return Moment(t, _clock(impact.started, t), words, kind)


def _clock(started: str | None, t: float | None) -> str:
    """`14:03:12 UTC`; empty where it is unknown."""
    if started is None or t is None:
        return ""
    try:
        moment = datetime.fromisoformat(started) + timedelta(seconds=t)
    except ValueError:
        return ""
    return f"{moment:%H:%M:%S} UTC"
