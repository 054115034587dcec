"""Tolerances for hypothesis probes. Chaos Toolkit refuses a bare float and takes no variable in a
`range`; here a limit may be `"${my_limit}"`.

    "tolerance": {"type": "probe", "name": "within-limit", "provider": {
        "type": "python", "module": "brownout.probes.tolerances", "func": "within_limit",
        "arguments": {"value": null}}}
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

__all__ = ["at_least", "at_most", "within_limit"]


def within_limit(
    value: dict = None, configuration: Configuration = None, secrets: Secrets = None
) -> bool:
    """Accept a measure that is within this run's limit, has none, or is not applicable yet."""
    measured: dict[str, Any] = value or {}
    if measured.get("status") == "not_applicable":
        return True
    if "limit" in measured and measured["limit"] is None:
        return True  # it has no limit, so none is broken if it was not measured
    return measured.get("status") == "measured" and measured.get("met") is not False


def at_most(
    value: dict = None,
    limit: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """Accept a measure of at most `limit`; one that could not be measured is not accepted."""
    return _compare(value, lambda found: found <= float(limit))


def at_least(
    value: dict = None,
    limit: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """Accept a measure of at least `limit`; one that could not be measured is not accepted."""
    return _compare(value, lambda found: found >= float(limit))


def _compare(value: Any, holds: Any) -> bool:
    """Compare a probe's answer or a bare number; before the fault there is nothing to compare."""
    if isinstance(value, dict):
        if value.get("status") == "not_applicable":
            return True
        value = value.get("value")
    return isinstance(value, int | float) and bool(holds(value))
