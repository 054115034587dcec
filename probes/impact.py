"""What the fault did to the load, each number as `docs/measures.md` defines it.

After the method all answer from the same impact:

    {"measure": "recovery_time", "scope": "total", "value": 3.1, "unit": "s", "status": "measured",
     "limit": 10.0, "met": true, "limit_from": "steady-state/slo/node-wipe.stone.yaml"}

`met` is what a hypothesis asks for, by Chaos Toolkit's own tolerance:

    "tolerance": {"type": "jsonpath", "path": "$.met", "expect": true}

It is true for a measure within its limit and for one without a limit, false where the limit is
exceeded, and null where that is open: below the noise of the run, or not measured, which the
`status` calls `no_data`. With more than one fault in a run the value is the worst of them.

Before the method there is no fault yet: `status` is `not_applicable`, `value` is null, and `met`
true. The verdict does not rest on that: it is computed over all limits when the run is over.

Each row of `MEASURES` that says what it means has a probe, besides `measure` and `latency`.
`limits_are_met` is all of them at once that have a limit in this run; every shipped experiment asks
for it:

    {"status": "measured", "met": false, "limits": [{"measure": "recovery_time", …}, …]}

Its `met` is false where one limit is exceeded, and null where none is but one is open, or where
the run has no limits.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.measure.measures import measures
from brownout.session.activity import activity, measure_probe
from brownout.session.current import current

#: A probe of each measure that says what it means, under its name.
_MADE = {
    each.name: measure_probe(each.name, f"Return {each.means}.", __name__)
    for each in measures().values()
    if each.means
}
globals().update(_MADE)
__all__ = sorted(["latency", "limits_are_met", "measure", *_MADE])


@activity
def limits_are_met(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return every measure that has a limit in this run, with its value, limit and `met`."""
    return current().limits_are_met()


@activity
def measure(
    name: str, scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return a measure of `docs/measures.md` by `name`, for total, read, write or a stream."""
    return current().measure(name, scope)


@activity
def latency(
    phase: str = "during",
    percentile: str = "p99",
    scope: str = "total",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Return response time in µs: `phase` before, during or after; p50, p99, p999 or max."""
    return current().measure(f"latency.{phase}.{percentile}_us", scope)
