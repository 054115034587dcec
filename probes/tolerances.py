"""Tolerances for probes with a limit of the experiment's own, which may be `"${my_limit}"`.

    "tolerance": {"type": "probe", "name": "at-most", "provider": {
        "type": "python", "module": "brownout.probes.tolerances", "func": "at_most",
        "arguments": {"value": null, "limit": "${my_limit}"}}}

Chaos Toolkit refuses a bare float and takes no variable in a `range`. The run's limits need none of
these: the impact probes answer `met`, which its own `jsonpath` tolerance accepts.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

__all__ = ["at_least", "at_most"]


def at_most(
    value: dict = None,
    limit: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """Accept a measure of at most `limit`; one that could not be measured is not accepted."""
    return _compare(value, lambda number: number <= float(limit))


def at_least(
    value: dict = None,
    limit: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """Accept a measure of at least `limit`; one that could not be measured is not accepted."""
    return _compare(value, lambda number: number >= float(limit))


def _compare(value: Any, holds: Any) -> bool:
    """Compare a probe's answer or a bare number; before the fault there is nothing to compare."""
    if isinstance(value, dict):
        if value.get("status") == "not_applicable":
            return True
        value = value.get("value")
    return isinstance(value, int | float) and bool(holds(value))
