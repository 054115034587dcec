"""*Compare*: two runs over each other, aligned at the moment that the fault took effect.

The second run is moved by `shift`, the milliseconds between the two faults, which a hidden variable
asks of Prometheus. Both faults must lie in the time that Prometheus keeps; the graphs show the
time of the first run.
"""

from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import queries
from brownout.dashboards.parts import Query, board, graph, picked, window
from brownout.dashboards.run import measured

__all__ = ["dashboard", "shift"]

UID = "brownout-compare"
#: How far back a run may lie.
KEPT = "30d"
#: The measures of either run.
SHOWN = (
    "tps_drop", "blackout", "recovery_time", "redundancy_time", "availability", "lost_operations",
)  # fmt: skip


def dashboard() -> grafana.Dashboard:
    """Return it."""
    return board(
        UID,
        "brownout · Compare",
        "Two runs aligned at the fault: the time shown is that of the first.",
        [
            picked("run", "First run", "label_values(brownout_run_info, run)"),
            picked("other", "Second run", "label_values(brownout_run_info, run)"),
            picked(
                "shift",
                "Shift",
                f"query_result({shift()})",
                regex=r"/\{.*\}\s+(-?\d+)/",
                hidden=True,
            ),
            window("5s"),
        ],
        [("Aligned at the fault", _graphs()), ("Measures", list(_figures()))],
        marked="run",
    )


def shift() -> str:
    """The milliseconds from the second fault to the first; 1 for 0, which no offset may be."""
    faults = " - ".join(f"min({_fault(run)})" for run in ("$run", "$other"))
    apart = f"round(1000 * ({faults}))"
    return f"{apart} + ({apart} == bool 0)"


def _fault(run: str) -> str:
    return f'last_over_time(brownout_fault_start_time_seconds{{run="{run}"}}[{KEPT}])'


def _graphs() -> list[Any]:
    other, shift = "$other", queries.SHIFT
    share = f"{queries.ok(other, shift=shift)} / {queries.baseline(other, shift=shift)}"
    return [
        graph(
            "Throughput",
            "ops",
            Query(queries.ok(), "first"),
            Query(queries.ok(other, shift=shift), "second"),
            note="Successful operations a second of either run.",
        ),
        graph(
            "Throughput as a share of its own baseline",
            "percentunit",
            Query(f"{queries.ok()} / {queries.baseline()}", "first"),
            Query(share, "second"),
            note="Each run against its own baseline, so that runs at different rates compare.",
        ),
        *(
            graph(
                f"{what} p99",
                "s",
                Query(queries.percentile(0.99, op=op), "first"),
                Query(queries.percentile(0.99, other, op=op, shift=shift), "second"),
                note="p99 response time of successful operations, from the intended start.",
            )
            for what, op in (("Read", queries.READS), ("Write", queries.WRITES))
        ),
        graph(
            "Unsuccessful operations",
            "ops",
            Query(queries.failed("run"), "first"),
            Query(queries.failed("run", other, shift=shift), "second"),
            note="Operations a second that were late, failed, in doubt, shed or missed.",
            width=24,
        ),
    ]


def _figures() -> Iterator[Any]:
    for run, name in (("$run", "first"), ("$other", "second")):
        for measure in SHOWN:
            yield measured(measure, run, KEPT, f", {name}")
