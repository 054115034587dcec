"""A run's verdict as the status of a ChaosResult. Pure.

    brownout        phase                            verdict   probeSuccessPercentage
    pass            Completed                        Pass      limits that are met, of all: 100
    fail            Completed_With_Probe_Failure     Fail      the same: below 100
    inconclusive    Error                            Error     0: nothing was shown
    not run         Error                            Error     0
    aborted         Stopped                          Stopped   0
    still broken    Error                            Error     0, whatever the verdict

A limit that could not be judged is not met, and a run without limits has shown nothing: 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from brownout.litmus.names import probe_name
from brownout.measure.impact import Impact, Judged
from brownout.show.report.words import between, quantity

__all__ = ["DIED", "NOT_RUN", "Target", "Told", "broken_off", "started", "tell", "with_history"]

Document = Mapping[str, Any]
INCONCLUSIVE, NOT_RUN = "RUN_INCONCLUSIVE", "NOT_RUN"
ABORTED, STILL_BROKEN = "RUN_ABORTED", "STILL_BROKEN"
DIED = "POD_DIED"
_COUNTED = {"Pass": "passedRuns", "Fail": "failedRuns", "Stopped": "stoppedRuns"}


@dataclass(frozen=True, slots=True)
class Target:
    """Who was to be broken: `kind` is the database, `status` targeted, injected or reverted."""

    name: str
    kind: str
    status: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a ChaosResult is to say. `percentage` is None while it is awaited."""

    phase: str
    verdict: str
    percentage: int | None = None
    probes: tuple[dict[str, Any], ...] = ()
    targets: tuple[Target, ...] = ()
    error: tuple[str, str] | None = None

    def status(self) -> dict[str, Any]:
        """Return the fields of `status` but for the history."""
        share = "Awaited" if self.percentage is None else str(self.percentage)
        experiment: dict[str, Any] = {
            "phase": self.phase,
            "verdict": self.verdict,
            "probeSuccessPercentage": share,
        }
        if self.error is not None:
            experiment["errorOutput"] = {"errorCode": self.error[0], "reason": self.error[1]}
        return {"experimentStatus": experiment, "probeStatuses": list(self.probes)}


def started(probes: Sequence[str]) -> Told:
    """Return the status during the run; `probes` are the names of its limits."""
    return Told("Running", "Awaited", None, tuple(_probe(name, "Awaited", "") for name in probes))


def broken_off(code: str, reason: str) -> Told:
    """Return what is said of a run that never came to a verdict."""
    return Told("Error", "Error", 0, error=(code, reason))


def tell(impact: Impact | None, unmended: str | None, stopped: bool = False) -> Told:
    """Return what is said of a run that is over; `impact` is None where none was opened.

    `unmended` says what is still broken, `stopped` that the engine was stopped meanwhile.
    """
    if impact is not None:
        report = _verdict(impact)
    elif stopped:
        report = Told("Stopped", "Stopped", 0, error=(ABORTED, "stopped before a run was opened"))
    else:
        report = broken_off(NOT_RUN, "no run was opened; the log of the pod says why")
    if unmended:
        report = replace(report, phase="Error", verdict="Error", percentage=0,
                       error=(STILL_BROKEN, unmended))  # fmt: skip
    return replace(report, targets=_targets(impact, unmended))


def with_history(report: Told, before: Document | None) -> dict[str, Any]:
    """Return the whole status, with what the earlier runs of this engine came to counted in."""
    counts = {name: int((before or {}).get(name) or 0) for name in _COUNTED.values()}
    if report.percentage is not None and report.verdict in _COUNTED:
        counts[_COUNTED[report.verdict]] += 1
    targets = [{"name": t.name, "kind": t.kind, "chaosStatus": t.status} for t in report.targets]
    return {**report.status(), "history": {**counts, "targets": targets}}


def _verdict(impact: Impact) -> Told:
    word, slos = impact.verdict, impact.slos
    reason = "; ".join(impact.reasons) or "no reason is recorded"
    if word == "aborted":
        return Told("Stopped", "Stopped", 0, _unshown(slos), error=(ABORTED, reason))
    if word not in ("pass", "fail"):
        return Told("Error", "Error", 0, _unshown(slos), error=(INCONCLUSIVE, reason))
    probes = [_judged(slo) for slo in slos]
    if word == "fail" and all(slo.met for slo in slos):
        probes.append(_probe("promises", "Failed", reason))  # lost writes, a milestone: no limit
    share = _share(probes)
    if word == "pass":
        return Told("Completed", "Pass", share, tuple(probes))
    return Told("Completed_With_Probe_Failure", "Fail", share, tuple(probes))


def _share(probes: Sequence[Document]) -> int:
    """Return how many of a hundred passed, rounded down."""
    passed = sum(probe["status"]["verdict"] == "Passed" for probe in probes)
    return 100 * passed // len(probes) if probes else 0


def _judged(slo: Judged) -> dict[str, Any]:
    word = {True: "Passed", False: "Failed", None: "N/A"}[slo.met]
    return _probe(probe_name(slo.name, slo.scope), word, _figure(slo))


def _unshown(slos: Sequence[Judged]) -> tuple[dict[str, Any], ...]:
    """What was measured in a run that shows nothing stands there, and counts for nothing."""
    return tuple(_probe(probe_name(s.name, s.scope), "N/A", _figure(s)) for s in slos)


def _figure(slo: Judged) -> str:
    """Return `3.1 s measured, at most 10 s wanted (steady-state/slo/…)`."""
    bound = "at least" if slo.direction == "at_least" else "at most"
    value = between(slo.ends, partial(quantity, slo.name), slo.value)
    words = f"{value} measured" if slo.value is not None else slo.detail
    return f"{words}, {bound} {quantity(slo.name, slo.limit)} wanted ({slo.limit_from})"


def _probe(name: str, verdict: str, description: str) -> dict[str, Any]:
    """One entry of `probeStatuses`: each is judged once, after the end."""
    status = {"verdict": verdict, **({"description": description} if description else {})}
    return {"name": name, "type": "cmdProbe", "mode": "EOT", "status": status}


def _targets(impact: Impact | None, unmended: str | None) -> tuple[Target, ...]:
    """Return every node that was broken, once; of a whole cluster that is asked, its name."""
    if impact is None:
        return ()
    by_target: dict[str, str] = {}
    for fault in impact.faults:
        for event in fault.events:
            if event.type == "break":
                status = "injected" if unmended else "reverted"
                name = event.node or str(impact.cluster_name)
                by_target[name] = "targeted" if event.effective is None else status
    kind = impact.database or "database"
    return tuple(Target(name, kind, status) for name, status in by_target.items())
