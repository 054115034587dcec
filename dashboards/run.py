"""*Run*: one run in full, with the figures that the whitepaper showed."""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, states, window
from brownout.measure.measures import measures
from brownout.observe.metrics import metric_of

__all__ = ["UID", "dashboard", "measured", "whitepaper"]

UID = "brownout-run"
#: Shorter than any other window: two scrapes, or a short dip is lost in it.
ZOOM = "2s"
#: The measures that stand at the top.
SHOWN = (
    "tps_drop", "blackout", "recovery_time", "redundancy_time", "availability", "lost_operations",
    "settled_time", "latency.before.p99_us", "latency.during.p99_us", "latency.after.p99_us",
)  # fmt: skip
FAILOVER = (
    "promoted_time", "client_recovered_time", "primary_overlap", "partial_outage",
    "return_recovery_time", "return_disturbance", "longest_stall", "budget_share",
)  # fmt: skip


def dashboard() -> grafana.Dashboard:
    """Return it: verdict and measures, the whitepaper's figures, outcomes, ledger, generator."""
    return board(
        UID,
        "brownout · Run",
        "One run in full; set the time range to the run.",
        [picked("run", "Run", "label_values(brownout_run_info, run)"), window("5s")],
        [
            ("Verdict and measures", _verdict()),
            ("Failover and return", [measured(name) for name in FAILOVER]),
            ("As the whitepaper showed it", whitepaper()),
            ("Outcomes", _outcomes()),
            ("Course of the run", _course()),
            ("Acknowledged writes", _ledger()),
            ("Load generator", _generator()),
            ("Machines (if a node exporter is scraped)", _machines()),
        ],
        marked="run",
    )


def measured(name: str, run: str = "$run", kept: str = "$__range", more: str = "") -> Any:
    """A measure of the judged run as a figure; nothing where it was not measured."""
    measure, shown = measures()[name], metric_of(name)
    if shown is None:
        raise LookupError(f"{name}: no metric shows it")
    labels = ",".join(f'{k}="{v}"' for k, v in {"run": run, **shown.labels("total")}.items())
    query = Query(f"last_over_time({shown.name}{{{labels}}}[{kept}])")
    title = measure.label[:1].upper() + measure.label[1:]
    note = f"{measure.means or measure.label}. The whole load; defined in docs/measures.md."
    return figure(title + more, measure.unit.grafana, query, note=note[:1].upper() + note[1:])


def _verdict() -> list[Any]:
    return [
        figure(
            "Verdict",
            "none",
            Query(queries.verdict(), "{{verdict}}"),
            note="pass, fail, inconclusive or aborted; no data until the run is judged.",
            names=True,
        ),
        *(measured(name) for name in SHOWN),
        figure(
            "Limits not met",
            "none",
            Query(
                'count(last_over_time(brownout_limit_met{run="$run"}[$__range]) == 0) or '
                'count(last_over_time(brownout_limit_met{run="$run"}[$__range])) * 0'
            ),
            note="Limits of the experiment that were judged and not met.",
            limit=1,
        ),
    ]


def whitepaper() -> list[Any]:
    """The figures of the whitepaper, from the generator's own count."""
    reads = [(0.95, queries.READS, "read"), (0.99, queries.READS, "read")]
    writes = [(0.95, queries.WRITES, "write"), (0.99, queries.WRITES, "write")]
    return [
        graph(
            "Throughput over time",
            "ops",
            Query(queries.ok(), "ok"),
            Query(queries.ok(op=queries.READS), "read"),
            Query(queries.ok(op=queries.WRITES), "write"),
            note="Successful operations a second: all, reads and writes.",
            width=24,
        ),
        *(
            graph(
                f"{what} p95 and p99 over time",
                "s",
                *(
                    Query(queries.percentile(r, op=op), f"p{100 * r:g} {name}")
                    for r, op, name in chosen
                ),
                note="Response time of successful operations, from the intended start.",
            )
            for what, chosen in (("Read", reads), ("Write", writes))
        ),
        graph(
            "Node failure zoomed",
            "ops",
            Query(queries.ok(window=ZOOM), "ok"),
            Query(queries.offered(window=ZOOM), "offered"),
            Query(queries.baseline(), "baseline"),
            note=f"Over {ZOOM}, whatever is chosen above. Drag over the fault to zoom in.",
        ),
        graph(
            "Throughput as a share of the baseline",
            "percentunit",
            Query(f"{queries.ok(window=ZOOM)} / {queries.baseline()}", "ok ÷ baseline"),
            note="1 less its lowest point is the throughput drop, as far as scrapes can see it.",
        ),
    ]


def _outcomes() -> list[Any]:
    ended = 'sum by (outcome) (rate(brownout_operations_total{run="$run"}[$window]))'
    pending = 'sum by (stream, op) (brownout_operations_pending{run="$run"})'
    retried = 'sum(rate(brownout_operations_retried_total{run="$run"}[$window]))'
    return [
        graph(
            "Operations by outcome",
            "ops",
            Query(ended, "{{outcome}}"),
            note="Operations a second by outcome: ok, late, failed, in doubt, shed or missed.",
            fill=10,
        ),
        common.by_cause(),
        graph(
            "Operations in progress",
            "none",
            Query(pending, "{{stream}} {{op}}"),
            note="Operations that were due to start and have not ended yet.",
        ),
        graph(
            "Retried operations",
            "ops",
            Query(retried, "retried"),
            note="Operations a second that took more than one attempt.",
        ),
        common.lanes(24),
    ]


def _course() -> list[Any]:
    events = 'sum by (type, name, node) (brownout_run_events_total{run="$run"})'
    return [
        states(
            "Phase",
            Query('brownout_run_phase{run="$run"}', "{{phase}}"),
            note="What the run did when.",
            width=12,
        ),
        states(
            "Broken",
            Query('brownout_fault_in_progress{run="$run"}', "{{fault}} {{node}}"),
            note="Which faults were in effect when, from their injection until they were undone.",
            width=12,
        ),
        common.clocks(12),
        graph(
            "Events",
            "none",
            Query(events, "{{type}} {{name}} {{node}}"),
            note="A step up where an event was recorded; events.ndjson has its evidence.",
        ),
    ]


def _ledger() -> list[Any]:
    return [
        figure(
            "Ledger",
            "none",
            Query('last_over_time(brownout_ledger_state{run="$run"}[$__range]) == 1', "{{state}}"),
            note="clean: every acknowledged write was found; lost; unknown; none: not checked.",
            names=True,
            width=3,
        ),
        *(
            figure(title, "none", Query(_writes(fate)), note=note, width=3, limit=limit)
            for title, fate, note, limit in (
                ("Acknowledged", "acknowledged", "Verified writes that were acknowledged.", None),
                ("Lost", "lost", "Acknowledged writes that are gone.", 1),
                (
                    "Of these rolled back",
                    "rolled_back",
                    "Lost writes that were undone by a rollback of the database.",
                    1,
                ),
                ("In doubt", "in_doubt", "Writes whose effect the client never learned.", None),
                (
                    "Of these applied",
                    "in_doubt_applied",
                    "Writes in doubt that the ledger found to have taken effect.",
                    None,
                ),
                (
                    "Of these absent",
                    "in_doubt_absent",
                    "Writes in doubt that the ledger found not to have taken effect.",
                    None,
                ),
            )
        ),
        figure(
            "Keys unread",
            "none",
            Query('last_over_time(brownout_ledger_keys{run="$run",found="unread"}[$__range])'),
            note="Keys that could not be read back; any makes the run inconclusive.",
            width=3,
            limit=1,
        ),
    ]


def _machines() -> list[Any]:
    idle = 'avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[$window]))'
    free = "node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes"
    moved = 'sum by (instance) (rate(node_network_{}_bytes_total{{device!="lo"}}[$window]))'
    return [
        graph(
            "Processors busy",
            "percentunit",
            Query(f"1 - {idle}", "{{instance}}"),
            note="Share of each machine's processor time that is not idle.",
            width=8,
        ),
        graph(
            "Memory free",
            "percentunit",
            Query(free, "{{instance}}"),
            note="Share of each machine's memory that is available.",
            width=8,
        ),
        graph(
            "Network",
            "Bps",
            Query(moved.format("receive"), "{{instance}} in"),
            Query(moved.format("transmit"), "{{instance}} out"),
            note="Bytes a second that each machine receives and sends, loopback left out.",
            width=8,
        ),
    ]


def _writes(fate: str) -> str:
    return f'last_over_time(brownout_ledger_writes{{run="$run",fate="{fate}"}}[$__range])'


def _generator() -> list[Any]:
    return [
        common.scheduling_lag(),
        graph(
            "Processor time",
            "percentunit",
            Query('sum(rate(process_cpu_seconds_total{run="$run"}[$window]))', "of one processor"),
            note="Processor time of the load generator; 100 % is one processor.",
            width=8,
        ),
        graph(
            "Memory",
            "bytes",
            Query('max(process_resident_memory_bytes{run="$run"})', "resident"),
            note="Resident memory of the load generator.",
            width=5,
        ),
        figure(
            "Sums that did not agree",
            "none",
            Query('max(brownout_identity_violations_total{run="$run"})'),
            note="Rows of the generator's files that do not add up: a bug in brownout, and the "
            "run is inconclusive.",
            width=3,
            limit=1,
        ),
    ]
