"""What Prometheus knows of the servers: the database's own figures, or the machines'.

Which Prometheus is asked says the inventory (`observe.prometheus`), else the one that
`brownout observe up` runs here. An answer is

    {"value": 0.43, "status": "measured", "query": "…", "samples": 31, "steps": 31}

Where Prometheus has nothing, has gaps, or gives several series, `status` is `no_data`, `value` is
null and `missing` says why: that is never within a limit. Before the fault `query_range` and
`compare_windows` answer `not_applicable`, as the impact probes do.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["compare_windows", "query", "query_range"]

Answer = dict[str, Any]


@activity
def query(query: str, configuration: Configuration = None, secrets: Secrets = None) -> Answer:
    """Return the value that PromQL `query` has now; it must give one series."""
    return current().server_view.now(query)


@activity
def query_range(
    query: str,
    statistic: str = "max",
    step_s: float = 1.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> Answer:
    """Return one figure of `query` over the fault: min, max, mean, median or last of its steps.

    From the first effect until the load was stopped, a value every `step_s` seconds.
    """
    return current().server_view.during(query, statistic, float(step_s))


@activity
def compare_windows(
    query: str,
    statistic: str = "min",
    step_s: float = 1.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> Answer:
    """Return by how much `query` was lower during the fault than in the baseline, a ratio.

    1 - `statistic` of the fault's window ÷ median of the baseline, both at every `step_s` seconds:
    with `min` and a rate over 10 s the drop in the server's own throughput as a graph of 10 s
    shows it. Negative where it was higher.
    """
    return current().server_view.compared(query, statistic, float(step_s))
