"""The run in sentences: what was broken, what users felt, and why it passed or not.

Every number in them is one of impact.json's, worded as docs/measures.md means it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from brownout.faults import registry
from brownout.measure.failover import Succession
from brownout.measure.impact import NEVER, UNKNOWN, Fault, Impact
from brownout.measure.measures import find, label
from brownout.run.ledger import Ledger
from brownout.run.table import BUCKETS_PER_S
from brownout.show.report.values import worded
from brownout.show.report.words import between, early_words, number, quantity

__all__ = [
    "VERDICTS",
    "applications",
    "event_words",
    "failover",
    "felt",
    "headline",
    "hits_too",
    "unfelt",
    "unserved_op",
    "why",
]

P99 = "latency.during.p99_us"
#: When a scope was served again, in seconds since the fault's effect.
_SERVED = "client_recovered_time"
#: When its last dip ended: a part of its operations, as those of one shard, may fail for longer.
_RECOVERED = "recovery_time"
#: Two clients that were served again within so many seconds of one another agree.
_AGREE_S = 1.0

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
    faults = impact.faults
    if not faults:
        return "Nothing was broken in this run, so it says nothing about a fault."
    cost = _cost(faults[0]) if len(faults) == 1 else f"{len(faults)} faults, measured one by one"
    stayed = "".join(f"; {line}" for fault in faults if (line := _no_failover(fault, impact)))
    gone = "".join(f"; {line}" for line in dict.fromkeys(_gone(impact)))
    return f"{_deeds(faults)}: {cost}{stayed}{gone}{_worse(impact, faults)}."


def felt(impact: Impact) -> list[str]:
    """What users met, most important first."""
    sentences: list[str] = []
    for fault in impact.faults:
        effects = (_drop(fault), _dark(fault), _lost(fault), _budget(fault, impact.settings),
                _waits(fault), _apart(fault), failover(fault, impact), unfelt(fault),
                hits_too(fault))  # fmt: skip
        sentences += [line for line in effects if line]
    sentences += applications(impact)
    if impact is UNKNOWN:
        return ["Not known: the run could not be measured."]
    return [*sentences, _writes(impact.ledger), *_checked(impact.ledger)]


def why(impact: Impact) -> list[str]:
    """The verdict's reasons; a pass says what it stands on."""
    remarks = [_sentence(remark) for remark in impact.remarks]
    reasons = [_sentence(_reason(reason)) for reason in impact.reasons]
    if reasons or impact.verdict != "pass":
        return [*remarks, *reasons] or ["No reason was recorded."]
    met, held = len(impact.slos), len(impact.validity)
    return [*remarks, f"All {met} limits were met and all {held} validity checks passed."]


def failover(fault: Fault, impact: Impact) -> str:
    """Say that no new primary came where one was needed, or for how long there were two."""
    sentences, overlap = [], fault.number("primary_overlap")
    if line := _no_failover(fault, impact):
        sentences.append(f"{line[0].upper()}{line[1:]}.")
    if overlap:
        both = _amount(fault, "primary_overlap")
        word = impact.role_word("primary")
        ends = fault.range("primary_overlap")
        say = "may have said" if ends and not ends[0] else "said"
        sentences.append(f"Two nodes at once {say} that they were {word}, for {both}.")
    return " ".join(sentences)


def unfelt(fault: Fault) -> str:
    """Say which nodes never felt what was done to them, by the kernel's own count."""
    seen = (str(event.evidence.get("unfelt") or "") for event in fault.events)
    return " ".join(_sentence(each) for each in dict.fromkeys(seen) if each)


def hits_too(fault: Fault) -> str:
    """Say which nodes a fault hit besides its own, since they share its machine."""
    hit = {
        (str(event.node), ", ".join(map(str, others)))
        for event in fault.events
        if (others := event.evidence.get("hits_too"))
    }
    return " ".join(
        f"The fault of {node} hit {others} too, on the same machine."
        for node, others in sorted(hit)
    )


def event_words(name: str, node: str | None) -> str:
    """`n1 killed`, `redundancy was back`, `cluster whole`."""
    done = _OTHERS.get(name) or registry.words(name)
    return f"{node} {done}" if node else done


def unserved_op(fault: Fault, measure: str, scope: str = "total") -> str | None:
    """Return `read` or `write` where only these had the outage that a measure of blackouts is of.

    The longest stretch and the sum of all may be of different ones.
    """
    measured = fault.scopes.get(scope)
    op = None if measured is None else measured.course.longest_blackout_op
    parts = {each: fault.number(measure, each) for each in ("read", "write")}
    read, write = parts.values()
    if scope != "total" or measure != "blackout" or read is None or write is None:
        return op
    if abs(read - write) <= 1 / BUCKETS_PER_S + 1e-9:
        return op
    return "read" if read > write else "write"


def _reason(text: str) -> str:
    """A reason that begins with the name of a measure or of a condition, in words."""
    head, colon, rest = text.partition(": ")
    name, bracket, scope = head.partition(" (")
    words = label(name) if find(name) else name.replace("_", " ")
    return f"{words}{bracket}{scope}{colon}{rest}" if colon else text


def _deeds(faults: Sequence[Fault]) -> str:
    """`n1 killed and wiped`."""
    deeds: dict[str, list[str]] = {}
    sentences = []
    for fault in faults:
        for event in fault.events:
            if event.type != "break" or event.name == "recluster":
                continue
            if event.evidence.get("by") and event.name not in registry.faults():
                sentences.append(f"{event.name} ({event.evidence['by']}) broke the cluster")
                continue
            lasted = early_words(event.evidence)
            done = _OTHERS.get(event.name) or registry.words(event.name)
            done += f" for only {lasted}" if lasted else ""
            if event.node is None and (done[0].isupper() or done.startswith("the ")):
                sentences.append(done)  # who did it stands in it: `Atlas cut a region off`
                continue
            deeds.setdefault(event.node or "the cluster", []).append(done)
    ours = [f"{node} was {_and(dict.fromkeys(done))}" for node, done in deeds.items()]
    return "; ".join([*ours, *dict.fromkeys(sentences)]) or "A fault"


def _cost(fault: Fault) -> str:
    """What one fault did, in half a sentence."""
    dark, fell, back = (_amount(fault, m) for m in ("blackout", "tps_drop", "recovery_time"))
    blackout = fault.number("blackout")
    if blackout is None:
        return "the effect on users could not be measured"
    first = f"throughput dropped by {fell}"
    if blackout:
        op = unserved_op(fault, "blackout")
        first = f"no {op} for {dark}" if op else f"total outage for {dark}"
    if fault.number("tps_drop") is None and not blackout:
        first = "no total outage"
    if fault.number("recovery_time") is None:
        return f"{first}, no recovery before the run ended"
    return f"{first}, back to baseline after {back}"


def _amount(fault: Fault, measure: str) -> str:
    """A time or a ratio of one fault, or between what it lies."""
    value = fault.number(measure)
    if value is None:
        return ""
    words = partial(worded, measure) if measure == "tps_drop" else partial(quantity, measure)
    return between(fault.range(measure), words, value)


def _worse(impact: Impact, faults: Sequence[Fault]) -> str:
    """What is worse than any time without service."""
    looked = [[m for m in fault.milestones if m.name == "redundant"] for fault in faults]
    never = any(looks and looks[-1].first_yes is None for looks in looked)
    gone = impact.ledger.state == "lost"
    differ = impact.ledger.copies is not None and impact.ledger.copies.diverged
    misread = impact.ledger.reads is not None and impact.ledger.reads.against
    disordered = impact.ledger.histories is not None and impact.ledger.histories.nonlinearizable
    return (
        ("; redundancy not restored before the run ended" if never else "")
        + ("; ACKNOWLEDGED WRITES WERE LOST" if gone else "")
        + ("; COPIES DIFFER" if differ else "")
        + ("; READS DID NOT HAVE THEIR GUARANTEE" if misread else "")
        + ("; REGISTERS WERE NOT LINEARIZABLE" if disordered else "")
    )


def _drop(fault: Fault) -> str:
    if fault.number("blackout") is None:
        return "The effect on users could not be measured."
    if fault.number("tps_drop") is None:
        return "The throughput drop was not measured: throughput was not steady before the fault."
    sham = fault.number("tps_drop_sham")
    chance = "" if sham is None else f" (noise alone: {worded('tps_drop_sham', sham)})"
    return f"Throughput dropped by {_amount(fault, 'tps_drop')}{chance}."


def _dark(fault: Fault) -> str:
    dark, longest = fault.number("blackout"), fault.number("longest_blackout")
    if dark is None:
        return ""
    if not dark:
        return "There was no total outage: some reads and some writes always succeeded."
    most = _amount(fault, "longest_blackout")
    stretch = "" if longest == dark else f", at most {most} at a time"
    op = unserved_op(fault, "blackout") or "operation"
    return f"No {op} succeeded for {_amount(fault, 'blackout')}{stretch}."


def _lost(fault: Fault) -> str:
    if fault.total is None or fault.total.losses.lost_operations is None:
        return ""
    seconds, share = fault.total.losses.lost_seconds, fault.total.losses.availability
    worth = "" if seconds is None else f", {_amount(fault, 'lost_seconds')} of normal load"
    rest = (
        "" if share is None else (f"; {worded('availability', share)} succeeded during the fault")
    )
    return f"{_amount(fault, 'lost_operations')} operations were lost{worth}{rest}."


def _no_failover(fault: Fault, impact: Impact) -> str:
    """Say that an ill primary stayed primary, where users had to wait for a new one."""
    heir, length = _heir_of_the_broken(fault), _broken_s(fault)
    if heir is None or length is None or not _worst_outage(fault):
        return ""
    limit = impact.cluster.get("failure_detection") or {}
    if limit and length < limit["seconds"]:
        return ""
    setting = f", although `{limit['setting']}` is {limit['seconds']:g} s" if limit else ""
    lasting = f"for the {quantity('blackout', length)} of the fault"
    if by_hand := _promoted_by_hand(fault):
        return f"the database did not fail over: {by_hand}"
    if heir.after == heir.before and heir.before in _stopped(fault):
        alone = f"no other node took over from {heir.before}"
        lasting = f"in the {quantity('blackout', length)} that it was down"
        return f"the database did not fail over: {alone} {lasting}{setting}"
    if heir.after == heir.before:
        stayed = f"{heir.before} stayed {impact.role_word('primary')}"
        return f"the database did not fail over: {stayed} {lasting}{setting}"
    if heir.last_no >= length:
        return f"the database did not fail over {lasting}{setting}"
    return ""


def applications(impact: Impact) -> list[str]:
    """Return what the clients and endpoints beside the built-in driver met, fault by fault."""
    own = _applications(impact)
    return [
        line
        for fault in impact.faults
        for name in own
        for line in (_served(fault, name), _beside_the_driver(fault, name, own))
        if line
    ]


def _applications(impact: Impact) -> list[str]:
    """Return the streams that a client or an endpoint of the application does."""
    streams = impact.workload.get("streams") or ()
    return [each["name"] for each in streams if each.get("client") or each.get("http")]


def _gone(impact: Impact) -> Iterator[str]:
    """Yield each application that was never served again, or in part, although the database was."""
    own = _applications(impact)
    for fault in impact.faults:
        others = set(fault.scopes) - {"total", "read", "write", *own}
        if _promoted(fault) is None and any(fault.never(_SERVED, name) for name in others):
            continue
        recovered = [fault.value(_RECOVERED, name) for name in others]
        for name in own:
            if fault.never(_SERVED, name):
                yield f"the application `{name}` was never served again"
            elif fault.value(_RECOVERED, name) == NEVER and _all_came(recovered):
                yield f"the application `{name}` never recovered"


def _all_came(times: Sequence[float | None]) -> bool:
    """Whether something came about wherever it is known."""
    measured = [each for each in times if each is not None]
    return bool(measured) and NEVER not in measured


def _served(fault: Fault, name: str) -> str:
    """Say how long an application waited, and for how long of that the database was back."""
    if fault.never(_SERVED, name):
        return f"The application `{name}` was not served again before the run ended."
    served, promoted = fault.number(_SERVED, name), _promoted(fault)
    if served is None:
        return ""
    lasting = _dips_after(served, fault.value(_RECOVERED, name))
    if not served:
        return f"The application `{name}` had no total outage{lasting}."
    sentence = f"The application `{name}` was served again after {quantity(_SERVED, served)}"
    if promoted and served >= promoted:
        sentence += f", {quantity(_SERVED, served - promoted)} after the database had a new primary"
    return f"{sentence}{lasting}."


def _beside_the_driver(fault: Fault, name: str, own: Sequence[str]) -> str:
    """Hold what an application met against what the built-in driver did, in the same seconds."""
    scopes = set(fault.scopes) - {"total", "read", "write", *own}
    application = fault.value(_SERVED, name)
    drivers = [each for scope in scopes if (each := fault.value(_SERVED, scope)) is not None]
    if application is None or not drivers:
        return ""
    served = max(drivers)
    recovered = max(
        (each for scope in scopes if (each := fault.value(_RECOVERED, scope)) is not None),
        default=None,
    )
    if served == NEVER:
        sentence = "The built-in driver was not served again before the run ended"
    elif served:
        sentence = f"The built-in driver was served again after {quantity(_SERVED, served)}"
    else:
        sentence = "The built-in driver had no total outage"
    sentence += _dips_after(served, recovered)
    if _are_close(application, served) and _are_close(fault.value(_RECOVERED, name), recovered):
        return f"{sentence}: it and `{name}` agree."
    return f"{sentence}: both asked the same database, so what lies between is a client's."


def _dips_after(served: float, recovered: float | None) -> str:
    """Say when the last dip ended, where a part of the operations failed for longer than all."""
    if recovered is None or served == NEVER or recovered <= served + _AGREE_S:
        return ""
    if recovered == NEVER:
        return "; it had not recovered when the run ended"
    return f"; its last dip ended after {quantity(_RECOVERED, recovered)}"


def _are_close(one: float | None, other: float | None) -> bool:
    """Whether two times agree, as do those of which one is unknown."""
    if one is None or other is None:
        return True
    return one == other or abs(one - other) <= _AGREE_S


def _promoted(fault: Fault) -> float | None:
    """Return when the database had a primary; None where it is unknown, or there was none."""
    return None if fault.never("promoted_time") else fault.number("promoted_time")


def _heir_of_the_broken(fault: Fault) -> Succession | None:
    """Return who followed the broken node; None where that was not a primary."""
    broken = {event.node for event in fault.events if event.type == "break"}
    return next((each for each in fault.successions if each.before in broken), None)


def _promoted_by_hand(fault: Fault) -> str:
    """Return who was promoted by a command of people, and when; empty where none was."""
    by_hand = [e for e in fault.events if e.name == "promote_standby" and e.effective is not None]
    if not by_hand or fault.effective is None or by_hand[0].effective is None:
        return ""
    since = quantity("blackout", by_hand[0].effective - fault.effective)
    return f"{by_hand[0].node} was promoted by hand after {since}"


def _stopped(fault: Fault) -> set[str | None]:
    """Return the nodes whose processes were ended, not only ill."""
    ended = {one.name for one in registry.faults().values() if one.undo_name == "start_node"}
    return {e.node for e in fault.events if e.type == "break" and e.name in ended}


def _broken_s(fault: Fault) -> float | None:
    """Return how long the fault lasted, from its first effect to the first mend's."""
    mends = [e.effective for e in fault.events if e.type == "mend" and e.effective is not None]
    if fault.effective is None or not mends:
        return None
    return min(mends) - fault.effective


def _worst_outage(fault: Fault) -> float:
    """Return the longest time without any read or any write, in all or in one lane."""
    whole = [fault.number("longest_blackout", scope) for scope in ("total", "read", "write")]
    return max(each or 0.0 for each in (*whole, fault.number("partial_outage")))


def _budget(fault: Fault, settings: Mapping[str, Any]) -> str:
    """What it cost of an error budget; runs of old do not tell."""
    share = fault.number("budget_share")
    if not share:
        return ""
    objective, days = settings["budget_objective"], settings["budget_days"]
    used = f"{quantity('budget_share', share)} of the error budget was used"
    # impact.json rounds the share to six decimals: of a smaller one the number would be a guess.
    faults = number(float(f"{1 / share:.2g}"))
    affords = f", which affords about {faults} such faults" if 5e-5 <= share < 1 else ""
    return f"{used} ({100 * objective:.6g} % over {days:g} days){affords}."


def _waits(fault: Fault) -> str:
    """p99 of what was served, and of everything."""
    before, during = (fault.number(f"latency.{phase}.p99_us") for phase in ("before", "during"))
    if before is None or during is None:
        return ""
    served = (
        f"p99 response time of successful operations: {worded(P99, before)} before, "
        f"{worded(P99, during)} during the fault"
    )
    if fault.number("latency_all.during.p99_us") is None:
        return f"{served}; of all operations, beyond the deadline."
    return f"{served}."


def _apart(fault: Fault) -> str:
    shares = {
        words: fault.number("availability", scope)
        for scope, words in (("read", "reads"), ("write", "writes"))
    }
    parts = [f"{worded('availability', v)} of {k}" for k, v in shares.items() if v is not None]
    return f"Success: {' and '.join(parts)}." if len(parts) == 2 else ""


def _writes(ledger: Ledger) -> str:
    if ledger.state == "none":
        return "Acknowledged writes were not checked: the workload has no verified stream."
    if ledger.state == "unknown":
        return f"It is not known whether acknowledged writes were lost: {ledger.detail}."
    if ledger.state == "clean":
        parts = ""
        if ledger.data_keys:
            own, loaded = number(ledger.acknowledged), number(ledger.data_keys)
            parts = f": {own} of the load, {loaded} loaded before"
        return f"None of {number(ledger.promised)} acknowledged writes was lost{parts}."
    return f"Acknowledged writes were LOST: {ledger.detail}."


def _checked(ledger: Ledger) -> list[str]:
    """What else the ledger says of the copies, the reads and the registers."""
    checked = (ledger.copies, ledger.reads, ledger.histories)
    sentences = [_sentence(each.words) for each in checked if each is not None]
    return [f"{words[0].upper()}{words[1:]}" for words in sentences]


def _and(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a name, and a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
