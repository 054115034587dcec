"""May a run be judged at all? Each condition by name, with what was found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from brownout.measure.baseline import Baseline
from brownout.measure.episodes import has_landed
from brownout.measure.impact import Condition, Fault
from brownout.measure.settings import MeasureSettings
from brownout.run.contract import breaches
from brownout.run.events import Event
from brownout.run.ledger import Ledger
from brownout.run.parts.apart import Apart

__all__ = [
    "FOUNDATIONS",
    "STARVED",
    "Facts",
    "conditions",
    "hypothesis_asked",
    "hypothesis_unmet",
    "late_in",
    "never_held",
    "starved",
    "steps_declared",
]

#: The condition that fails by our own doing: it is named before all others.
STARVED = "generator_not_starved"
#: Without these a broken limit says nothing about the fault: only lost writes are a fail.
FOUNDATIONS = frozenset(
    {"load_delivered", "baseline_stable", "fault_landed", "contract_kept", "steps_declared"}
)

#: Of more seconds in which the generator was late only the number is told.
_SECONDS_NAMED = 5


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a run besides its impact.

    `lag_p99_ms` is how late the generator sent, None where it never said; `violations` counts
    rows of its files whose sums do not agree; `deadline_s` is its streams' shortest; `torn` says
    what is missing in each incomplete file; `apart` is how well several generators kept
    together, None where one was alone; `late_seconds` are those in which the generator itself was
    so late that response times are between two numbers; `resolutions` are the shortest limits that
    can be judged, in seconds, by measure and scope.
    """

    events: Sequence[Event]
    baseline: Baseline
    ledger: Ledger
    settings: MeasureSettings
    generator_ended: bool
    lag_p99_ms: float | None
    offered: int
    missed: int
    violations: int
    deadline_s: float = 1.0
    torn: Sequence[str] = ()
    apart: Apart | None = None
    late_seconds: Sequence[int] = ()
    resolutions: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def abort(self) -> str | None:
        """Why the run was aborted; None if it was not."""
        aborts = [event for event in self.events if event.type == "abort"]
        return str(aborts[0].fields.get("reason") or "no reason given") if aborts else None

    @property
    def put_back(self) -> bool:
        """Whether the run lived to put back what it had broken."""
        return any(event.type == "phase" and event.name == "put_back" for event in self.events)


def starved(facts: Facts) -> str | None:
    """Return what has to be said of a generator that did not keep up with its schedule."""
    if facts.lag_p99_ms is None or not facts.offered:
        return None
    settings, missed = facts.settings, facts.missed / facts.offered
    if missed < settings.missed_ratio_max and facts.lag_p99_ms < settings.lag_p99_max_ms:
        return None
    words = (
        f"the load generator was starved: it missed {missed:.2%} of its schedule, scheduling lag "
        f"p99 {facts.lag_p99_ms:.1f} ms"
    )
    return f"{words}; the outcome of the missed operations is unknown" if facts.missed else words


def late_in(faults: Sequence[Fault], facts: Facts) -> str | None:
    """Return what has to be said of the seconds in which the generator itself was late, where that
    leaves a response time of a fault between two numbers."""
    has_ranges = any(
        name.startswith(("latency", "time_above"))
        for fault in faults
        for scope in fault.scopes.values()
        for name in scope.ranges
    )
    if not has_ranges or not facts.late_seconds:
        return None
    seconds = ", ".join(f"{second} s" for second in facts.late_seconds[:_SECONDS_NAMED])
    if (more := len(facts.late_seconds) - _SECONDS_NAMED) > 0:
        seconds += f" and {more} more"
    return (
        f"the load generator itself was late by {facts.settings.lag_p99_max_ms:g} ms or more in "
        f"the seconds from {seconds}: response times there may be its own"
    )


def conditions(facts: Facts) -> list[Condition]:
    """Return every condition of validity but that of the limits, which `verdict` knows."""
    results = [check(facts) for check in _CHECKS]
    results += _load_held(facts)
    return results if facts.apart is None else [*results, _generators_together(facts, facts.apart)]


def never_held(facts: Facts) -> list[str]:
    """Name each time the load did not hold because of the database."""
    return [_not_held(event) for event in _holds(facts) if _is_theirs(event)]


def hypothesis_unmet(facts: Facts) -> list[str]:
    """Name each probe of the hypothesis whose answer was not within its tolerance.

    One that asks for limits of the run is left to the verdict over all of them.
    """
    return [
        f"probe {_probe(event)} answered {event.fields.get('detail')}"
        for event in _hypothesis(facts)
        if event.fields.get("answered")
        and event.fields.get("when") != "before"
        and not event.fields.get("by_limits")
    ]


def hypothesis_asked(facts: Facts, limits_are_met: bool) -> list[Condition]:
    """Return a condition that fails where a probe of the hypothesis leaves the verdict open.

    It was not met before the method, it failed, or it asked brownout itself, whose limits are all
    met. Nothing where none did.
    """
    details = []
    for event in _hypothesis(facts):
        answer = event.fields.get("detail")
        if not event.fields.get("answered"):
            details.append(f"probe {_probe(event)} failed: {answer}")
        elif event.fields.get("when") == "before":
            details.append(f"probe {_probe(event)} answered {answer}, so the method did not begin")
        elif event.fields.get("by_limits") and limits_are_met:
            details.append(f"probe {_probe(event)} answered {answer}, though every limit is met")
    name = "hypothesis_asked"
    return [_untold(facts, name, "; ".join(details))] if details else []


def _hypothesis(facts: Facts) -> list[Event]:
    return [e for e in facts.events if (e.type, e.name) == ("check", "hypothesis")]


def _probe(event: Event) -> str:
    """Return `` `error-rate` after the method``, or `during the method, 3 times`."""
    times = int(event.fields.get("times", 1))
    often = f", {times} times," if times > 1 else ""
    return f"`{event.fields.get('probe')}` {event.fields.get('when')} the method{often}"


def _holds(facts: Facts) -> list[Event]:
    return [e for e in facts.events if (e.type, e.name) == ("check", "load_held")]


def _is_theirs(event: Event) -> bool:
    return not event.fields.get("ok") and not event.fields.get("ours")


def _not_held(event: Event) -> str:
    fields = event.fields
    hold_s, waited_s = float(fields.get("hold_s", 0)), float(fields.get("waited_s", 0))
    failed = int(fields.get("failed", 0))
    whose = "; what the load generator missed decides" if fields.get("ours") else ""
    return (
        f"the load did not hold for {hold_s:g} s within {waited_s:g} s of waiting: {failed:,} "
        f"operations of the last {hold_s:g} s did not succeed in time{whose}"
    )


def _load_held(facts: Facts) -> list[Condition]:
    """After a fault the load holds, for as long as it is awaited; earlier runs do not say."""
    name, holds = "load_held", _holds(facts)
    failed = [_not_held(event) for event in holds if not event.fields.get("ok")]
    if failed or not holds:
        return [Condition(name, False, "; ".join(failed))] if failed else []
    hold_s = float(holds[-1].fields.get("hold_s", 0))
    return [Condition(name, True, f"the load held for {hold_s:g} s after the fault")]


def _fault_landed(facts: Facts) -> Condition:
    """Every break has proof of its cause, and one at least did something new."""
    breaks = [event for event in facts.events if event.type == "break"]
    if not breaks:
        return _untold(facts, "fault_landed", f"nothing was broken{_undeclared(facts)}")
    for event in breaks:
        what = f"{event.name} {event.node or ''}".strip()
        if event.error is not None:
            how = "was refused" if event.refused else "failed"
            return Condition("fault_landed", False, f"{what} {how}: {event.error}")
        if event.effective is None:
            return _untold(facts, "fault_landed", f"{what}: there is no evidence that it happened")
    landed = [event for event in breaks if has_landed(event)]
    if not landed:
        return Condition("fault_landed", False, "what was to be broken was broken already")
    what = ", ".join(
        f"{e.name} {e.node or ''}".strip() + f" at {e.effective:.3f} s" for e in landed
    )
    return Condition("fault_landed", True, f"proven: {what}")


def _undeclared(facts: Facts) -> str:
    """Name the steps of other providers: one of them may have been meant to break something."""
    names = [
        f"`{event.name}` ({event.arguments.get('by')})"
        for event in facts.events
        if event.type == "step" and event.arguments.get("kind") == "action"
    ]
    if not names:
        return ""
    return f" by brownout; if {' or '.join(names)} breaks something, name it in `breaks`"


def steps_declared(faults: Sequence[Fault], facts: Facts) -> Condition | None:
    """Judge whether a step of others that is not declared has hurt the load; None without steps.

    A dip that begins within such a step belongs to it, unless it follows something of a fault
    within the time that a load has to hold.
    """
    name, hold_s = "steps_declared", facts.settings.hold_s
    steps = [e for e in facts.events if e.type == "step" and e.arguments.get("kind") == "action"]
    if not steps or not faults:
        return None
    deeds = [
        (act.requested, act.effective + hold_s)
        for fault in faults
        for act in fault.events
        if act.requested is not None and act.effective is not None
    ]
    details = []
    for fault in faults:
        total = fault.scopes.get("total")
        for dip in total.course.dips if total is not None else ():
            step = next((each for each in steps if _is_within(dip.start, each)), None)
            if step is not None and not any(a <= dip.start < b for a, b in deeds):
                details.append(
                    f"the load dipped from {dip.start:.1f} s to {dip.end:.1f} s during "
                    f"`{step.name}` ({step.arguments.get('by')}), which the experiment names "
                    "neither in `breaks` nor in `harmless`"
                )
    if details:
        return Condition(name, False, "; ".join(details))
    return Condition(name, True, "no step of others hurt the load")


def _is_within(t: float, step: Event) -> bool:
    begun = step.requested is not None and step.requested <= t
    return begun and (step.ended is None or t <= step.ended)


def _load_delivered(facts: Facts) -> Condition:
    test = facts.baseline.test("delivered")
    if not test.ok:
        return _untold_before_fault(facts, "load_delivered", test.detail)
    return Condition("load_delivered", True, test.detail)


def _baseline_stable(facts: Facts) -> Condition:
    base, settings = facts.baseline, facts.settings
    failed = [f"{test.name}: {test.detail}" for test in base.failed if test.name != "delivered"]
    if settings.baseline_s < settings.baseline_min_s:
        failed.append(
            f"a baseline of {settings.baseline_s:g} s is too short to show a steady load, "
            f"at least {settings.baseline_min_s:g} s wanted"
        )
    if failed:
        return _untold_before_fault(facts, "baseline_stable", "; ".join(failed))
    passed = ", ".join(t.name for t in base.tests if t.ok and t.name != "delivered")
    spared = [f"{test.name}: {test.detail}" for test in base.tests if not test.ok]
    without = f"; nothing is made of throughput: {'; '.join(spared)}" if spared else ""
    return Condition("baseline_stable", True, f"passed: {passed}{without}")


def _generator_finished(facts: Facts) -> Condition:
    if facts.apart is not None and facts.apart.lost:
        return Condition("generator_finished", False, "; ".join(facts.apart.lost))
    if facts.generator_ended:
        return Condition("generator_finished", True, "the load generator ended as it should")
    return Condition(
        "generator_finished", False, "the load generator died: what it had in flight is not known"
    )


def _generator_not_starved(facts: Facts) -> Condition:
    name, lag = STARVED, facts.lag_p99_ms
    most_lag, most_missed = 1000 * facts.deadline_s, facts.settings.starved_ratio_max
    if lag is None or not facts.offered:
        return _untold(facts, name, "the load generator said nothing of how late it sent")
    missed = facts.missed / facts.offered
    detail = (
        f"scheduling lag p99 {lag:.1f} ms, at most the deadline of {most_lag:g} ms; "
        f"missed {missed:.2%} of the schedule, at most {most_missed:.2%}"
    )
    return Condition(name, lag <= most_lag and missed <= most_missed, detail)


def _generators_together(facts: Facts, apart: Apart) -> Condition:
    """Buckets that begin at different times cannot be added up."""
    name = "generators_together"
    if apart.seconds is None:
        return _untold(facts, name, apart.words())
    return Condition(name, apart.together, apart.words())


def _identities_exact(facts: Facts) -> Condition:
    count = facts.violations
    detail = (
        f"{count} rows of the raw files whose sums do not agree" if count else "every sum agrees"
    )
    return Condition("identities_exact", not count, detail)


def _files_whole(facts: Facts) -> Condition:
    detail = "; ".join(facts.torn) or "every raw file goes to the end of the run"
    return Condition("files_whole", not facts.torn, detail)


def _ledger_known(facts: Facts) -> Condition:
    ledger = facts.ledger
    if ledger.state == "unknown":
        return _untold(facts, "ledger_known", ledger.detail)
    if ledger.histories is not None and ledger.histories.unknown:
        return _untold(facts, "ledger_known", ledger.histories.words)
    return Condition("ledger_known", True, ledger.detail)


def _cluster_whole(facts: Facts) -> Condition:
    name = "cluster_whole_at_start"
    for event in facts.events:
        if event.type == "break":
            break
        if event.type == "check" and event.name == "cluster_whole":
            ok = event.fields.get("ok") is True
            state = "whole and redundant" if ok else f"not whole: {event.fields.get('detail')}"
            return Condition(name, ok, f"the cluster was {state} before anything was broken")
    return _untold(facts, name, "the cluster was not checked to be whole at the start")


def _contract_kept(facts: Facts) -> Condition:
    """The fault was made on what it was meant for, for as long as it was meant, and in time."""
    broken = [breach.detail for breach in breaches(facts.events) if not breach.allowed]
    if broken:  # what was seen at the break and at its undo is said once
        return Condition("contract_kept", False, "; ".join(dict.fromkeys(broken)))
    if not any(event.type == "break" for event in facts.events):
        return Condition("contract_kept", None, "nothing was broken")
    return Condition("contract_kept", True, "no clause was broken")


def _method_completed(facts: Facts) -> Condition:
    """Nothing of the method failed, and all that was broken was put back."""
    notes = [e for e in facts.events if e.type == "note" and e.name in ("failure", "undo_failed")]
    if notes:
        reasons = "; ".join(str(note.fields.get("reason")) for note in notes)
        return Condition("method_completed", False, reasons)
    if not facts.put_back:
        detail = "the run died before it had put everything back"
        return _untold(facts, "method_completed", detail)
    return Condition("method_completed", True, "no activity failed")


def _untold(facts: Facts, name: str, detail: str) -> Condition:
    """A condition that nothing is known of: not met, unless the run was cut short."""
    return Condition(name, None if facts.abort else False, detail)


def _untold_before_fault(facts: Facts, name: str, detail: str) -> Condition:
    """A baseline that was still awaited when the run was aborted tells nothing."""
    broken = any(event.type == "break" for event in facts.events)
    return Condition(name, False, detail) if broken else _untold(facts, name, detail)


_CHECKS: tuple[Callable[[Facts], Condition], ...] = (
    _cluster_whole,
    _load_delivered,
    _baseline_stable,
    _fault_landed,
    _contract_kept,
    _method_completed,
    _generator_finished,
    _generator_not_starved,
    _identities_exact,
    _files_whole,
    _ledger_known,
)
