"""The table in the terminal at the end of a run: what was broken, what it cost, the verdict."""

from functools import partial

from brownout.base.columns import aligned
from brownout.base.words import duration
from brownout.measure.impact import NEVER, Act, Fault, Impact, Judged, Range
from brownout.measure.measures import Measure, find, label, measures
from brownout.run.copies import Copies
from brownout.run.histories import Histories
from brownout.run.ledger import Ledger
from brownout.run.reads import Reads
from brownout.show.report import story
from brownout.show.report.faults import named, worst_part
from brownout.show.report.noise import detectable_words, sham_words, stable_words
from brownout.show.report.words import NOT_SEEN, between, early_words, number, pace, quantity

__all__ = ["HEADS", "render", "rows"]

#: The heads of a fault's table.
HEADS = ("measure", "value", "limit", "met")


def render(impact: Impact, path: str) -> str:
    """Render `impact` (see docs/run-directory.md) as the text that ends a run."""
    lines = [_title(impact), *_circumstances(impact), ""]
    for place, (name, fault) in enumerate(named(impact.faults)):
        lines += [name, *aligned([HEADS, *rows(impact, fault, place)]), ""]
    lines += [line for fault in impact.faults if (line := story.failover(fault, impact))]
    lines += [line for fault in impact.faults if (line := story.unfelt(fault))]
    lines += [line for fault in impact.faults if (line := story.hits_too(fault))]
    lines += [*story.applications(impact), *impact.remarks, *impact.reasons]
    lines.append(f"{impact.verdict.upper()}   {path}")
    return "\n".join(lines)


def _title(impact: Impact) -> str:
    """`node-wipe (kill) · staging (3 × stone 6.0.5) · lab 800/s open loop, deadline 1 s …`."""
    mode = f" ({impact.mode})" if impact.mode else ""
    stand_in = " · STAND-IN" if impact.stand_in else ""
    deadline = "not known" if impact.deadline_s is None else duration(impact.deadline_s)
    return " · ".join(
        [
            f"{impact.scenario}{mode}",
            f"{impact.cluster_name} ({impact.members} × {impact.engine}){stand_in}",
            f"{impact.workload_name} {pace(impact.load)}, deadline {deadline}",
            f"seed {impact.seed}",
        ]
    )


def _circumstances(impact: Impact) -> list[str]:
    """The baseline and each event of the faults, one line each."""
    lines = []
    base = impact.baseline
    if base.tests:
        ends = base.interval
        interval = f" [{number(ends[0])}, {number(ends[1])}]" if ends else ""
        lines.append(f"baseline {number(base.tps)}/s{interval}, {stable_words(base)}")
        if base.tps and base.detectable_drop is not None:
            lines.append(detectable_words(base.detectable_drop))
    for sham in impact.shams:
        lines.append(sham_words(sham))
    for fault in impact.faults:
        for event in fault.events:
            lines.append(_event(event))
    return lines


def _event(event: Act) -> str:
    """`20.4 s  kill_node n1`, with how far off that may be."""
    when = event.effective if event.effective is not None else event.requested
    node = f" {event.node}" if event.node else ""
    at = "   ?    " if when is None else f"{when:7.1f} s"
    provider = f", by {event.evidence['by']}" if event.evidence.get("by") else ""
    failed = "  FAILED" if event.error else ""
    lasted = early_words(event.evidence)
    early = f", ended by itself after {lasted}" if lasted else ""
    return f"{at}  {event.name}{node}{provider}{early}{failed}"


def rows(impact: Impact, fault: Fault, place: int) -> list[tuple[str, str, str, str]]:
    """Return the rows of the fault at `place`; every value and whether it is met is its own."""
    limits = {(slo.name, slo.scope): slo for slo in impact.slos}
    rows = []
    for name, measure in measures().items():
        slo = limits.pop((name, "total"), None)
        compared = name == "diverged_copies" and impact.ledger.copies is not None
        compared |= name == "stale_reads" and impact.ledger.reads is not None
        compared |= name == "nonlinearizable_registers" and impact.ledger.histories is not None
        if slo is None and not compared and not _has_row(measure, fault):
            continue
        if name == "lost_operations" and slo is None:  # its row shows the seconds as well
            slo = limits.pop(("lost_seconds", "total"), None)
        rows.append((label(name), _value(impact, fault, name), *_limit(slo, place)))
    for (name, scope), slo in limits.items():
        words = label(name) + (f" ({scope})" if scope != "total" else "")
        rows.append((words, _value(impact, fault, name, scope), *_limit(slo, place)))
    return rows


def _has_row(measure: Measure, fault: Fault) -> bool:
    """Whether a fault's table shows a measure though it has no limit."""
    if measure.if_any:
        return bool(fault.number(measure.name))
    if measure.planned:
        return fault.figure(measure.name) is not None and not measure.name.endswith("_per_s")
    if measure.missing:
        return measure.main and fault.figure(measure.name) is not None
    return measure.main


def _value(impact: Impact, fault: Fault, name: str, scope: str = "total") -> str:
    """One measure in words."""
    if name == "lost_writes":
        return _lost_writes(impact.ledger)
    measure = find(name)
    if name == "diverged_copies" and (copies := impact.ledger.copies) is not None:
        return _diverged(copies)
    if name == "stale_reads" and (reads := impact.ledger.reads) is not None:
        return _stale(reads)
    if name == "nonlinearizable_registers" and impact.ledger.histories is not None:
        return _nonlinearizable(impact.ledger.histories)
    if measure is not None and measure.of_ledger:
        slo = impact.limit(name, scope)
        return quantity(name, None) if slo is None else _ends(name, slo.ends, slo.value)
    words = _ends(name, fault.range(name, scope), fault.number(name, scope))
    if isinstance(fault.figure(name, scope), tuple) and fault.value(name, scope) == NEVER:
        words = NOT_SEEN
    if scope != "total":
        return words
    if part := worst_part(impact, fault, name):
        words += f"  ({part})"
    sham = fault.number("tps_drop_sham")
    if name == "tps_drop" and sham is not None:
        words += f"  (noise {quantity(name, sham)})"
    rate = fault.number(f"{name}_per_s")
    if rate is not None:
        words += f"  ({quantity(name, rate)} a second)"
    if name == "lost_operations" and (seconds := fault.number("lost_seconds")) is not None:
        words += f"  ({_ends('lost_seconds', fault.range('lost_seconds'), seconds)})"
    return words


def _ends(name: str, ends: Range | None, value: float | None) -> str:
    return between(ends, partial(quantity, name), value)


def _lost_writes(ledger: Ledger) -> str:
    """`0 of 41,220`, or that it is not known."""
    if ledger.state == "unknown":
        return "unknown"
    return f"{number(ledger.lost)} of {number(ledger.promised)}"


def _diverged(copies: Copies) -> str:
    """`0 of 25,000, on 3 servers`, or that no server told."""
    if copies.bounds is None:
        return "unknown"
    ends = between(copies.bounds, partial(quantity, "diverged_copies"), copies.diverged)
    return f"{ends} of {number(copies.compared)}, on {len(copies.servers)} servers"


def _stale(reads: Reads) -> str:
    """`0 of 4,000 (12 more are allowed, up to 1.2 s old)`."""
    against, allowed = (reads.bounds(name) for name in ("stale_reads", "stale_reads_allowed"))
    age = reads.bounds("stale_age")
    if against is None or allowed is None or age is None:
        return "unknown"
    words = f"{number(against[0])} of {number(reads.checked)}"
    old = f"up to {quantity('stale_age', age[0])} old"
    if allowed[0]:
        return f"{words}  ({number(allowed[0])} more are allowed, {old})"
    return f"{words}  ({old})" if against[0] else words


def _nonlinearizable(histories: Histories) -> str:
    """`0 of 60, in 4,812 operations`."""
    ends = between(
        histories.bounds, partial(quantity, "nonlinearizable_registers"), histories.nonlinearizable
    )
    return f"{ends} of {number(histories.registers)}, in {number(histories.operations)} operations"


def _limit(slo: Judged | None, place: int) -> tuple[str, str]:
    """The limit and whether the fault at this place met it; a dash where there is none."""
    if slo is None:
        return "–", ""
    sign = "≥ " if slo.direction == "at_least" else "≤ "
    met = slo.by_fault[place] if place < len(slo.by_fault) else slo.met
    words = {True: "yes", False: "NO", None: "open"}[met]
    none = slo.limit == 0 and slo.direction == "at_most"
    return f"{'' if none else sign}{quantity(slo.name, slo.limit)}", words
