"""What the fault did to the load, each number as `docs/measures.md` defines it.

Before the method there is no fault yet, and every probe here answers
`{"status": "not_applicable", "value": null, …}`, which our tolerances accept there and nowhere
else. After it, all answer from the same impact:

    {"measure": "recovery_time", "scope": "total", "status": "measured", "value": 3.1,
     "limit": 10.0, "limit_from": "steady-state/slo/node-wipe.stone.yaml", "met": true}

`status` is `no_data` where it could not be measured: that is never within a limit. With more than
one fault in a run the value is the worst of them.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = [
    "availability",
    "blackout",
    "capacity_ratio",
    "errors",
    "latency",
    "lost_operations",
    "lost_writes",
    "measure",
    "rebalance_time",
    "recovery_time",
    "redundancy_time",
    "rejoin_time",
    "throughput_while_moving",
    "tps_drop",
]

Answer = dict[str, Any]


@activity
def measure(
    name: str, scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return a measure of `docs/measures.md` by `name`, for total, read, write or a stream."""
    return current().measure(name, scope)


@activity
def tps_drop(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return how deep throughput fell: 1 - lowest 1 s mean ÷ baseline, a ratio."""
    return current().measure("tps_drop", scope)


@activity
def blackout(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return for how many seconds nothing at all was served while something was wanted."""
    return current().measure("blackout", scope)


@activity
def recovery_time(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return the seconds from the fault's effect until the load served as before, and held."""
    return current().measure("recovery_time", scope)


@activity
def errors(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return how many operations were late, failed, in doubt or shed; `detail` has the causes."""
    return current().measure("errors", scope)


@activity
def availability(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return ok ÷ offered by intended start over the fault's episode, a ratio."""
    return current().measure("availability", scope)


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


@activity
def lost_operations(
    scope: str = "total", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return how many operations the fault cost."""
    return current().measure("lost_operations", scope)


@activity
def lost_writes(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return how many acknowledged writes were gone when the ledger was read back."""
    return current().measure("lost_writes", "total")


@activity
def rejoin_time(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return the seconds from the fault's effect until every member had rejoined."""
    return current().measure("rejoin_time", "total")


@activity
def redundancy_time(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return the seconds from the fault's effect until redundancy was back."""
    return current().measure("redundancy_time", "total")


@activity
def rebalance_time(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return the seconds from a planned change's effect until nothing was left to move."""
    return current().measure("rebalance_time", "total")


@activity
def throughput_while_moving(
    configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Return mean throughput while data was moved ÷ baseline, a ratio."""
    return current().measure("throughput_while_moving", "total")


@activity
def capacity_ratio(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Return throughput after ÷ before, a ratio; in closed loop only, where it is not offered."""
    return current().measure("capacity_ratio", "total")
