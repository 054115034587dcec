"""Made-up impacts: the JSON of an `impact.json` of which a test says only what it is about."""

from collections.abc import Mapping
from typing import Any

from brownout.measure.document import impact_of
from brownout.measure.impact import Fault, Impact

__all__ = ["fault_of", "made"]

SCOPE: dict[str, Any] = {
    "theta": 0.0, "tps_drop_sham_window_s": 10.0, "degraded_time": 0.0, "dips": [],
    "dip_method": "by hand", "lost_method": "by hand", "errors": {}, "latency": {},
}  # fmt: skip


def _phases(scope: Mapping[str, Any]) -> dict[str, Any]:
    """`latency_all` alone tells of a phase in which nothing was served."""
    everything = scope.get("latency_all", {})
    return {name: {"n": 0} for name in everything} | dict(scope.get("latency", {}))


def _scope(scope: Mapping[str, Any]) -> dict[str, Any]:
    return {**SCOPE, **scope, "latency": _phases(scope)}


def _fault(fault: Mapping[str, Any]) -> dict[str, Any]:
    effective = fault.get("effective", 20.0)
    own = {"name": "kill_node", "events": [], "milestones": [], "requested": 20.0,
           "effective": effective, "start": 20.0, "end": None if effective is None else 40.0,
           "until": 60.0}  # fmt: skip
    scopes = {name: _scope(scope) for name, scope in fault.get("scopes", {}).items()}
    return {**own, **_scope(fault), "scopes": scopes}


def made(document: Mapping[str, Any]) -> Impact:
    """Return the impact in an `impact.json` of which `document` is what matters."""
    ledger = {"state": "clean", "detail": "all there", **document.get("ledger", {})}
    faults = [_fault(fault) for fault in document.get("faults", ())]
    usual = {"verdict": "pass", "baseline": {}}
    return impact_of({**usual, **document, "ledger": ledger, "faults": faults})


def fault_of(fault: Mapping[str, Any]) -> Fault:
    """Return one fault of which `fault` is what matters."""
    return made({"faults": [fault]}).faults[0]
