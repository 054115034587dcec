"""Panels that several dashboards have."""

from typing import Any

from brownout.dashboards import queries
from brownout.dashboards.parts import Query, graph

__all__ = ["by_cause", "client_p99", "clocks", "lanes", "scheduling_lag"]


def by_cause() -> Any:
    """Everything that was not ok, by its cause."""
    query = 'sum by (cause) (rate(brownout_errors_total{run="$run"}[$window]))'
    return graph(
        "Unsuccessful operations, by cause",
        "ops",
        Query(query, "{{cause}}"),
        note="Operations a second that did not succeed in time, by the cause the driver reported.",
    )


def client_p99() -> Any:
    """Response time as the client has it, beside what a database says of itself."""
    return graph(
        "Client: response time p99",
        "s",
        Query(queries.percentile(0.99, op=queries.READS), "read"),
        Query(queries.percentile(0.99, op=queries.WRITES), "write"),
        note="p99 of successful operations as brownout's client measured it, from the intended "
        "start; to be read beside what the database says of itself.",
    )


def clocks(width: int) -> Any:
    """The recovery clocks of the latest fault."""
    return graph(
        "Recovery clocks",
        "s",
        Query('brownout_recovery_clock_seconds{run="$run"}', "{{clock}}"),
        note="Seconds since the latest fault; each stands where it was reached.",
        width=width,
    )


def lanes(width: int) -> Any:
    """What is on its way in each lane."""
    return graph(
        "Lanes",
        "none",
        Query('sum by (lane) (brownout_lane_in_flight{run="$run"})', "{{lane}} in flight"),
        Query('sum by (lane) (brownout_lane_queued{run="$run"})', "{{lane}} queued"),
        Query('max(sum by (lane) (brownout_lane_cap{run="$run"}))', "cap"),
        note="A lane is what fails together: a node, or a partition's owner.",
        width=width,
    )


def scheduling_lag() -> Any:
    """How late the generator itself is."""
    return graph(
        "Scheduling lag of the generator",
        "s",
        Query('max(brownout_scheduling_lag_p99_seconds{run="$run"})', "p99"),
        Query('max(brownout_scheduling_lag_max_seconds{run="$run"})', "max"),
        note="The generator's own fault: above 50 ms the run is inconclusive.",
        width=8,
    )
