"""Steps with a fault: one run of an experiment at one rate, judged from what it left.

Nothing of the time is left out. From the first request to break something until redundancy is
back and the load has held, each second belongs to one of two: it lies in a dip (or within a
deadline after one, when what had waited is served late), and then it counts against the
allowance; or it does not, and then the whole SLA holds in it as at any other time, for the time
in which the node is down and for the time in which it comes back, each by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brownout.measure.impact import Fault, Impact
from brownout.runs.capacity.judgement import Figures, Judgement, Promise, Terms, judge
from brownout.runs.capacity.step_figures import Measured, Seconds, measured_in

__all__ = ["Faulted", "Window", "judge_fault", "unfit", "windows_of"]

#: With fewer judged seconds nothing is said of a time.
LEAST_S = 3
#: Conditions of a run's validity without which it says nothing about the database.
_WANTED = ("cluster_whole_at_start", "load_delivered", "baseline_stable", "fault_landed",
           "method_completed", "generator_finished", "generator_not_starved",
           "identities_exact", "files_whole")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Window:
    """A time of a fault, in seconds of the load: `down` until its undo, `back` after."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Faulted:
    """What a step with a fault came to: its figures are those of all that was judged.

    `out_s` is how many seconds of each stream lay in dips or within a deadline after one,
    `judged_s` in how many of each window the SLA was judged, on the stream with the fewest.
    """

    judgement: Judgement
    figures: tuple[Figures, ...]
    lag_p99_ms: float | None
    out_s: Mapping[str, int]
    judged_s: Mapping[str, int]


def unfit(impact: Impact) -> Judgement | None:
    """Return why a run cannot be judged, or fails whatever its figures are; None for neither."""
    if impact.ledger.state == "lost":
        return Judgement("breach", (f"acknowledged writes are lost: {impact.ledger.lost}",))
    bad = impact.unmet(_WANTED)
    # A capacity says nothing about a cluster whose generator was late, however little.
    if impact.remarks or bad or not impact.faults:
        notes = (*impact.remarks, *(f"{c.name}: {c.detail}" for c in bad))
        return Judgement("limited", notes or ("nothing was broken",))
    for fault in impact.faults:
        if fault.missed("redundant"):
            return Judgement("breach", (f"redundancy did not come back after {fault.name}",))
    return None


def windows_of(fault: Fault) -> list[Window]:
    """Return the times of one fault: down, and coming back.

    A fault that ends by itself, such as a step-down, has no undo and one window.
    """
    end = fault.end if fault.end is not None else fault.until
    asked = [e.requested for e in fault.events if e.type == "mend"]
    mends = [requested for requested in asked if requested is not None]
    if not mends:
        return [Window("fault", fault.start, end)]
    return [Window("down", fault.start, min(mends)), Window("back", min(mends), end)]


def judge_fault(
    measured: Measured,
    impact: Impact,
    promises: Sequence[Promise],
    terms: Terms,
    allowance_s: float,
) -> Faulted:
    """Return what the run in which `impact` was seen says, by the promises of its streams."""
    length, streams = measured.seconds, list(impact.deadlines_s)
    windows = [window for fault in impact.faults for window in windows_of(fault)]
    inside = [_inside(window, length) for window in windows]
    during = np.logical_or.reduce(inside)
    clear = {s: _clear(impact, s, length) for s in streams}
    out = {s: int((during & ~clear[s]).sum()) for s in streams}
    judgements = [
        _judged(measured, window.name, {s: here & clear[s] for s in streams}, promises, terms)
        for window, here in zip(windows, inside, strict=True)
    ]
    judged = {
        window.name: min(int((here & clear[s]).sum()) for s in streams)
        for window, here in zip(windows, inside, strict=True)
    }
    figures = tuple(measured.figures(s, promises, during & clear[s]) for s in streams)
    lag = measured.lag_p99_ms(during)
    return Faulted(_together(judgements, out, allowance_s), figures, lag, out, judged)


def _together(
    judgements: Sequence[Judgement], out: Mapping[str, int], allowance_s: float
) -> Judgement:
    """Join the judgements of all times: one breach is a breach, one without data is not a pass."""
    broken = [reason for each in judgements if each.verdict == "breach" for reason in each.reasons]
    broken += [f"{stream}: {seconds} s in or after dips, wanted at most {allowance_s:g} s"
               for stream, seconds in out.items() if seconds > allowance_s]  # fmt: skip
    if broken:
        return Judgement("breach", tuple(broken))
    unsure = [reason for each in judgements if each.verdict == "limited" for reason in each.reasons]
    return Judgement("limited", tuple(unsure)) if unsure else Judgement("holds")


def _judged(
    measured: Measured,
    name: str,
    seconds: Mapping[str, Seconds],
    promises: Sequence[Promise],
    terms: Terms,
) -> Judgement:
    """Judge one time outside the dips; too little of it counts as no data."""
    short = [stream for stream, chosen in seconds.items() if int(chosen.sum()) < LEAST_S]
    if short:
        fewest = min(int(seconds[stream].sum()) for stream in short)
        return Judgement("limited", (f"while {name}: {fewest} s outside of dips on "
                                     f"{short[0]}, wanted {LEAST_S} s to judge",))  # fmt: skip
    figures = [measured.figures(stream, promises, chosen) for stream, chosen in seconds.items()]
    lag = measured.lag_p99_ms(np.logical_or.reduce(list(seconds.values())))
    judgement = judge(figures, promises, terms, lag)
    return Judgement(judgement.verdict, tuple(f"while {name}: {r}" for r in judgement.reasons))


def _inside(window: Window, length: int) -> Seconds:
    """Return every second that a window touches: it has none to lose at its edges."""
    return measured_in(np.floor(window.start), np.ceil(window.end), length)


def _clear(impact: Impact, stream: str, length: int) -> Seconds:
    """Return the seconds outside the stream's dips and outside a deadline after each."""
    clear, deadline = np.ones(length, np.bool_), impact.deadlines_s[stream]
    for fault in impact.faults:
        for dip in fault.scopes[stream].course.dips if stream in fault.scopes else ():
            clear[int(dip.start) : int(np.ceil(dip.end + deadline))] = False
    return clear
