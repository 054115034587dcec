"""The run in sentences: what was broken, what users felt, and why it passed or not.

Every number in them is one of impact.json's, worded as docs/measures.md means it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from brownout.faults import registry
from brownout.measure.measures import find, label
from brownout.show.report.measured import worded
from brownout.show.report.words import between, number, quantity

__all__ = ["VERDICTS", "broken", "event_words", "felt", "headline", "why"]

Impact = Mapping[str, Any]
Fault = Mapping[str, Any]
P99 = "latency.during.p99_us"

#: What no fault is called: milestones, what belongs to a fault, and what old runs say.
_OTHERS = {
    "changed": "the cluster noticed",
    "rejoined": "every member had rejoined",
    "redundant": "redundancy was back",
    "empty_spare": "emptied",
    "drain_node": "drained",
}
#: The verdict's sign, and how it is told: "Why it passed".
VERDICTS = {
    "pass": ("✓", "it passed"),
    "fail": ("✗", "it failed"),
    "inconclusive": ("?", "it is inconclusive"),
    "aborted": ("■", "it was aborted"),
}


def headline(impact: Impact) -> str:
    """One sentence: what was done, and what it cost."""
    faults = impact.get("faults") or []
    if not faults:
        return "Nothing was broken in this run, so it says nothing about a fault."
    cost = _cost(faults[0]) if len(faults) == 1 else f"{len(faults)} faults, measured one by one"
    return f"{_deeds(faults)}: {cost}{_worse(impact, faults)}."


def broken(impact: Impact) -> list[str]:
    """What was broken and mended, one sentence a fault."""
    sentences = []
    for fault in impact.get("faults") or []:
        steps = [
            f"{event_words(event['name'], event.get('node'))} at {_at(event)}"
            for event in fault["events"]
        ]
        sentences.append(_sentence(", ".join(steps)))
    return sentences or ["Nothing: no fault was injected."]


def felt(impact: Impact) -> list[str]:
    """What users met, most important first."""
    sentences: list[str] = []
    for fault in impact.get("faults") or []:
        sentences += [line for line in (_drop(fault), _dark(fault), _lost(fault), _waits(fault),
                                        _apart(fault)) if line]  # fmt: skip
    if impact.get("ledger"):
        sentences.append(_writes(impact["ledger"]))
    return sentences or ["Nothing is known: the run could not be measured."]


def why(impact: Impact) -> list[str]:
    """The verdict's reasons; a pass says what it stands on."""
    remarks = [_sentence(str(remark)) for remark in impact.get("remarks") or []]
    reasons = [_sentence(_reason(str(reason))) for reason in impact.get("reasons") or []]
    if reasons or impact.get("verdict") != "pass":
        return [*remarks, *reasons] or ["No reason was recorded."]
    slos, checks = impact.get("slos") or [], impact.get("validity") or []
    return [
        *remarks,
        f"All {len(slos)} limits were met, and all {len(checks)} checks of validity hold.",
    ]


def event_words(name: str, node: str | None) -> str:
    """`n1 killed`, `redundancy was back`, `cluster whole`."""
    done = _OTHERS.get(name) or registry.words(name)
    return f"{node} {done}" if node else done


def _reason(text: str) -> str:
    """A reason that begins with the name of a measure or of a condition, in words."""
    head, colon, rest = text.partition(": ")
    name, bracket, scope = head.partition(" (")
    words = label(name) if find(name) else name.replace("_", " ")
    return f"{words}{bracket}{scope}{colon}{rest}" if colon else text


def _deeds(faults: Sequence[Fault]) -> str:
    """`n1 killed and wiped`."""
    deeds: dict[str, list[str]] = {}
    for fault in faults:
        for event in fault["events"]:
            if event["type"] != "break" or event["name"] == "recluster":
                continue
            done = _OTHERS.get(event["name"]) or registry.words(event["name"])
            deeds.setdefault(event.get("node") or "the cluster", []).append(done)
    return (
        "; ".join(f"{node} was {_and(dict.fromkeys(done))}" for node, done in deeds.items())
        or "A fault"
    )


def _cost(fault: Fault) -> str:
    """What one fault did, in half a sentence."""
    dark, fell, back = (_said(fault, m) for m in ("blackout", "tps_drop", "recovery_time"))
    if fault["blackout"] is None:
        return "what users felt could not be measured"
    first = f"for {dark} nobody was served" if fault["blackout"] else f"throughput fell by {fell}"
    if fault["tps_drop"] is None and not fault["blackout"]:
        first = "something was served all the time"
    if fault["recovery_time"] is None:
        return f"{first}, and service was not seen to recover before the run ended"
    return f"{first}; service was as before after {back}"


def _said(fault: Fault, measure: str) -> str:
    """A time or a ratio of one fault, or between what it lies."""
    if fault[measure] is None:
        return ""
    words = partial(worded, measure) if measure == "tps_drop" else partial(quantity, measure)
    return between((fault.get("ranges") or {}).get(measure), words, fault[measure])


def _worse(impact: Impact, faults: Sequence[Fault]) -> str:
    """What is worse than any time without service."""
    looked = [[m for m in fault["milestones"] if m["name"] == "redundant"] for fault in faults]
    never = any(found and found[-1]["first_yes"] is None for found in looked)
    gone = impact["ledger"]["state"] == "lost"
    return ("; redundancy was not seen restored before the run ended" if never else "") + (
        "; ACKNOWLEDGED WRITES WERE LOST" if gone else ""
    )


def _drop(fault: Fault) -> str:
    if fault["blackout"] is None:
        return "What users felt could not be measured."
    if fault["tps_drop"] is None:
        return "The drop of throughput is not known: it was not steady before the fault."
    sham = fault["tps_drop_sham"]
    chance = "" if sham is None else f" (by chance alone: {worded('tps_drop_sham', sham)})"
    return f"Throughput fell by {_said(fault, 'tps_drop')}{chance}."


def _dark(fault: Fault) -> str:
    dark, longest = fault["blackout"], fault["longest_blackout"]
    if dark is None:
        return ""
    if not dark:
        return "There was no blackout: something was served all the time."
    most = _said(fault, "longest_blackout")
    stretch = "" if longest == dark else f", at most {most} at a stretch"
    return f"Nothing at all was served for {_said(fault, 'blackout')}{stretch}."


def _lost(fault: Fault) -> str:
    lost, seconds, share = fault["lost_operations"], fault["lost_seconds"], fault["availability"]
    if lost is None:
        return ""
    worth = "" if seconds is None else f", worth {_said(fault, 'lost_seconds')} of normal load"
    rest = (
        ""
        if share is None
        else (f"; over the whole fault {worded('availability', share)} were served in time")
    )
    return f"{_said(fault, 'lost_operations')} operations were lost{worth}{rest}."


def _waits(fault: Fault) -> str:
    """p99 of what was served, and of everything."""
    before, during = ((fault["latency"] or {}).get(phase) for phase in ("before", "during"))
    if not before or not during or before["p99_us"] is None or during["p99_us"] is None:
        return ""
    served = (
        f"Response time p99 of what was served: {worded(P99, before['p99_us'])} before, "
        f"{worded(P99, during['p99_us'])} during the fault"
    )
    everything = fault["latency_all"]["during"]
    if everything["p99_us"] is None:
        return f"{served}; counting what was not, longer than the deadline."
    return f"{served}."


def _apart(fault: Fault) -> str:
    shares = {
        words: fault["scopes"].get(scope, {}).get("availability")
        for scope, words in (("read", "reads"), ("write", "writes"))
    }
    parts = [f"{worded('availability', v)} of {k}" for k, v in shares.items() if v is not None]
    return f"Served in time: {' and '.join(parts)}." if len(parts) == 2 else ""


def _writes(ledger: Mapping[str, Any]) -> str:
    if ledger["state"] == "none":
        return "Acknowledged writes were not checked: no stream was verified."
    if ledger["state"] == "unknown":
        return f"Whether acknowledged writes were lost is not known: {ledger['detail']}."
    checked = number(ledger["acknowledged"])
    if ledger["state"] == "clean":
        return f"No acknowledged write was lost, of {checked}."
    return f"Acknowledged writes were LOST: {ledger['detail']}."


def _at(event: Mapping[str, Any]) -> str:
    """`20.4 s`; of an event whose effect was not proven, when it was asked for."""
    if event.get("effective") is not None:
        return f"{event['effective']:.1f} s"
    asked = "an unknown time" if event.get("requested") is None else f"{event['requested']:.1f} s"
    return f"{asked} (requested; its effect is not proven)"


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a name, and a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
