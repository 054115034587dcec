"""*Game day*: what happens now, on one screen that everybody in the room can read."""

from typing import Any

from grafana_foundation_sdk.builders import dashboard as grafana

from brownout.dashboards import common, queries
from brownout.dashboards.parts import Query, board, figure, graph, picked, window

__all__ = ["dashboard"]

UID = "brownout-game-day"
#: Grafana's unit of a time in milliseconds, as `in 3 days` or `2 hours ago`.
FROM_NOW = "dateTimeFromNow"


def dashboard() -> grafana.Dashboard:
    """Return it: now, throughput, errors, response time, what is broken, the verdict so far.

    Its last row is of the game days on schedules, from `brownout gameday serve --listen`.
    """
    return board(
        UID,
        "brownout · Game day",
        "What a run does now: throughput, errors, response time, what is broken, verdict so far.",
        [picked("run", "Run", "label_values(brownout_run_info, run)"), window("5s")],
        [
            ("Now", _now()),
            ("Service", _service()),
            ("Recovery", _recovery()),
            ("Schedules", _schedules()),
        ],
        marked="run",
        refresh="5s",
    )


def _now() -> list[Any]:
    share = f"{queries.ok()} / {queries.baseline()}"
    return [
        figure(
            "What is measured",
            "none",
            Query('brownout_run_info{run="$run"}', "{{experiment}} on {{engine}}"),
            note="The experiment that is running and the database it runs on.",
            names=True,
            width=6,
        ),
        figure(
            "Stand-in",
            "none",
            Query('brownout_run_info{run="$run"}', "{{stand_in}}"),
            note="true: not a database was measured but a stand-in of ours.",
            names=True,
            width=2,
        ),
        figure(
            "Phase",
            "none",
            Query('brownout_run_phase{run="$run"} == 1', "{{phase}}"),
            note="What the run is doing: baseline, method, waiting for recovery, reading back.",
            names=True,
        ),
        figure(
            "Broken now",
            "none",
            Query('brownout_fault_in_progress{run="$run"} == 1', "{{fault}} {{node}}"),
            note="Faults that have been injected and not yet undone, with their node.",
            names=True,
            empty="nothing",
        ),
        figure(
            "Throughput of baseline",
            "percentunit",
            Query(share),
            note="Successful operations a second as a share of the accepted baseline.",
            width=4,
        ),
        figure(
            "Verdict",
            "none",
            Query('brownout_run_verdict{run="$run"} == 1', "{{verdict}}"),
            note="pending until the run is judged.",
            names=True,
            width=2,
        ),
        figure(
            "Limits broken",
            "none",
            Query('brownout_limits{run="$run",state="broken"}'),
            note="Already broken for good: what is counted here cannot become a pass.",
            width=2,
            limit=1,
        ),
    ]


def _service() -> list[Any]:
    return [
        graph(
            "Throughput",
            "ops",
            Query(queries.offered(), "offered"),
            Query(queries.ok(), "ok"),
            Query(queries.baseline(), "baseline"),
            note="Operations a second: what the load offered, what succeeded, and the baseline.",
        ),
        graph(
            "Response time",
            "s",
            *(Query(queries.percentile(r), f"p{100 * r:g}") for r in (0.5, 0.95, 0.99)),
            note="Of ok operations, from their intended start. Good to a quarter.",
        ),
        graph(
            "Unsuccessful operations, by outcome",
            "ops",
            Query(queries.failed("outcome"), "{{outcome}}"),
            note="Operations a second that were late, failed, in doubt, shed or missed.",
        ),
        common.by_cause(),
    ]


def _recovery() -> list[Any]:
    return [
        common.clocks(8),
        common.lanes(8),
        common.scheduling_lag(),
    ]


def _schedules() -> list[Any]:
    each = "{{gameday}} on {{cluster}}"
    return [
        figure(
            "Next due",
            FROM_NOW,
            Query("brownout_gameday_next_due_time_seconds * 1000", each),
            note="When each game day of `brownout gameday serve` is due next.",
            empty="nothing",
            width=6,
        ),
        figure(
            "Last missed",
            FROM_NOW,
            Query("brownout_gameday_last_missed_time_seconds * 1000", each),
            note="When it was last noticed that a game day was not started at its time.",
            empty="none",
            width=6,
        ),
        figure(
            "Last died",
            FROM_NOW,
            Query("brownout_gameday_last_died_time_seconds * 1000", each),
            note="When it was last noticed that a game day died.",
            empty="none",
            width=6,
        ),
        figure(
            "Stale passes",
            "none",
            Query("brownout_gameday_pass_stale == 1", "{{experiment}} of {{gameday}}"),
            note="Experiments whose last pass is missing or older than `freshness`.",
            names=True,
            empty="none",
            width=6,
        ),
    ]
