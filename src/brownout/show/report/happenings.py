"""Everything that happened in a run, numbered, in words, each with the time that counts."""

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from brownout.run import contract
from brownout.run.events import Event
from brownout.show.report.material import Happening
from brownout.show.report.story import event_words

__all__ = ["happenings"]

#: Kinds of events that are pinned to the figures; the others stand in the list only.
PINNED = ("break", "mend", "milestone", "abort")

#: More of an event's evidence than this is left to events.ndjson.
MOST_EVIDENCE = 400
#: Fields that the words tell already, unless they are true.
TOLD = ("already", "reason", "skipped")
#: Milestones that were not reached.
NEVER = {
    "changed": "the cluster did not notice",
    "rejoined": "not every member rejoined",
    "redundant": "redundancy was not back",
}
#: Milestones that were reached and did not last.
REVOKED = {
    "rejoined": "a member was away again",
    "redundant": "redundancy was lost again",
}


def happenings(events: Sequence[Event]) -> list[Happening]:
    """Return `events` in the order of their times; those without a time first.

    What is pinned to the figures is numbered from 1.
    """
    timed = [(_time(event), event) for event in events]
    timed.sort(key=lambda pair: _place(*pair))
    numbers = count(1)
    return [
        Happening(
            next(numbers) if t is not None and event.type in PINNED else None,
            t,
            event.type,
            _words(event),
            _record(event),
        )
        for t, event in timed
    ]


def _time(event: Event) -> float | None:
    """Effective where that is proven; of a milestone the first time it was seen."""
    if event.type == "milestone" and not event.is_revoked:
        return event.fields.get("first_yes")
    return event.requested if event.effective is None else event.effective


def _place(t: float | None, event: Event) -> float:
    """What never came stands where it was given up; what came before the load, first."""
    at = event.requested if t is None else t
    return -1.0 if at is None else at


def _words(event: Event) -> str:
    """`n1 killed`, `redundancy was not back within 300 s`, `aborted: …`."""
    words = event_words(event.name, event.node)
    if event.error is not None:
        return f"{words}: {'REFUSED' if event.refused else 'FAILED'}, {event.error}"
    if event.is_revoked:
        return REVOKED.get(event.name, f"{words}: no longer")
    if event.type == "milestone" and event.fields.get("first_yes") is None:
        limit = event.fields.get("limit_s")
        never = NEVER.get(event.name, f"{words}: not seen")
        return never if limit is None else f"{never} within {limit:g} s"
    if event.type in ("abort", "note") and event.fields.get("reason"):
        return f"{words}: {event.fields['reason']}"
    if event.type == "step":
        length = ""
        if event.requested is not None and event.ended is not None:
            length = f", {event.ended - event.requested:.1f} s"
        return f"{event.name}: a step of {event.arguments.get('by')}{length}"
    if event.name == "step":
        return f"step: {event.fields.get('activity')}"
    if event.type == contract.TYPE:
        return f"contract of the fault, {event.name}: {event.fields.get('detail')}"
    if (event.type, event.name) == ("check", "hypothesis"):
        fields = event.fields
        return f"hypothesis: probe `{fields.get('probe')}` not met {fields.get('when')} the method"
    if event.type == "check":
        return f"{words}: {'yes' if event.fields.get('ok') else 'NO'}"
    if event.evidence.get("skipped"):
        return f"{words}: skipped, there is nothing of the kind here"
    return f"{words}: it was already" if event.evidence.get("already") else words


def _record(event: Event) -> dict[str, Any]:
    """What the table of events shows besides."""
    facts = {**event.evidence, **event.fields}
    evidence = {key: value for key, value in facts.items() if key not in TOLD or value is True}
    text = json.dumps(evidence, ensure_ascii=False, default=str) if evidence else ""
    if len(text) > MOST_EVIDENCE:
        text = f"{text[:MOST_EVIDENCE]}… (all of it in events.ndjson)"
    return {
        "requested": event.requested,
        "uncertainty": event.uncertainty,
        "wall": event.wall,
        "evidence": text,
        "error": event.error,
    }
