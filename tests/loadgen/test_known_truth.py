"""What the generator measures is what the scripted server did."""

from pathlib import Path

import pytest
from tests.loadgen.driving import (
    Measured,
    check_identities,
    loss,
    measure_all,
    rows,
    stream,
)

pytestmark = pytest.mark.quiet

DIPS = [(1.0, 0.15), (3.0, 0.40), (5.0, 1.00)]
#: Nearer to the edge of a dip of 1 s, its loss is not asserted.
MARGIN_S = 0.1

FREEZE = {"latency_ms": 1, "effects": [{"at": 1, "for": 3.1, "effect": "freeze"}]}
DIP = {"effects": [{"at": at, "for": 1, "effect": "error", "share": s} for at, s in DIPS]}
STALL = {
    "lanes": 5,
    "latency_ms": 1,
    "effects": [{"at": 2, "for": 60, "effect": "freeze", "lane": 3}],
}
REFUSE = {"lanes": 3, "effects": [{"at": 1, "for": 1, "effect": "refuse", "lane": 0}]}
HALF = {"latency_ms": 2, "effects": [{"at": 0.5, "for": 2, "effect": "error", "share": 0.5}]}

SCENARIOS = {
    "frozen": (5.5, FREEZE, stream(rate=1000, deadline_s=10)),
    "dips": (6.5, DIP, stream(rate=1000)),
    "stalled lane": (7, STALL, stream(rate=400)),
    "stalled lane, one cap": (7, STALL, stream(rate=400), {"global_cap": 8}),
    "refused": (4, REFUSE, stream()),
    "retried": (3, HALF, stream(rate=0, concurrency=1, retries="once")),
    "closed loop": (2, {"latency_ms": 20}, stream(rate=0, concurrency=4)),
    "poisson": (2, {"lanes": 2}, stream(arrivals="poisson"), {"seed": 3}),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    return measure_all(tmp_path_factory.mktemp("truth"), SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_identities_hold_in_every_row(measured: dict[str, Measured], scenario: str) -> None:
    check_identities(measured[scenario].run)


def test_a_frozen_server_delays_everything_and_the_schedule_goes_on(
    measured: dict[str, Measured],
) -> None:
    run = measured["frozen"].run
    by_bucket: dict[str, list[int]] = {}
    missed = 0  # by a generator that a busy machine starved: one each ms, and none of them waits
    for row in rows(run / "series.csv"):
        missed += row.n("missed")
        bucket = by_bucket.setdefault(row["t"], [0, missed, 0])
        bucket[0] += row.n("offered")
        bucket[1] += row.n("pending")
        bucket[2] = max(bucket[2], row.n("max_us"))
    assert {offered for offered, _, _ in by_bucket.values()} == {100}
    assert 2900 <= max(unanswered for _, unanswered, _ in by_bucket.values()) <= 3200 + missed
    assert max(slowest for _, _, slowest in by_bucket.values()) >= 3_000_000 - 1000 * missed
    assert sum(row.n("shed") for row in rows(run / "series.csv")) == 0
    assert loss(run, 0, 5) < 0.005


def lateness_s(run: Path) -> float:
    """Return how late the generator was at worst, by its own account."""
    return max(float(row["lag_max_ms"]) for row in rows(run / "generator.csv")) / 1000


def test_dips_have_the_scripted_loss_by_intended_start(
    measured: dict[str, Measured], tmp_path: Path
) -> None:
    dips = measured["dips"]
    for again in ("second", "third"):
        if lateness_s(dips.run) <= MARGIN_S:
            break
        # What was to start in a dip was sent after it: measured once more, with nothing beside it.
        dips = measure_all(tmp_path / again, {"dips": SCENARIOS["dips"]})["dips"]
    run, effects = dips.run, dips.truth["effects"]
    for (at, share), effect in zip(DIPS, effects, strict=True):
        assert loss(run, at + MARGIN_S, at + 1 - MARGIN_S) == pytest.approx(share, abs=0.01)
        assert loss(run, at - 1 + MARGIN_S, at - MARGIN_S) < 0.01
        assert effect["hit"] == pytest.approx(effect["seen"] * share, abs=1)
    scripted = sum(effect["hit"] for effect in effects)
    errors = [row for row in rows(run / "errors.csv") if row["cause"] == "overloaded"]
    assert sum(row.n("n") for row in errors) == pytest.approx(scripted, abs=5)


def test_one_stalled_lane_of_five_loses_a_fifth(measured: dict[str, Measured]) -> None:
    run = measured["stalled lane"].run
    of_lanes = [row for row in rows(run / "lanes.csv") if 3 < row.t < 6]
    offered = sum(row.n("offered") for row in of_lanes)
    share = sum(row.n("offered") for row in of_lanes if row["lane"] == "lane-3") / offered
    assert share == pytest.approx(0.2, abs=0.03)  # as the keys fall
    assert loss(run, 3, 6) == pytest.approx(share, abs=0.01)


def test_one_cap_for_all_lanes_makes_it_ninety_percent(measured: dict[str, Measured]) -> None:
    assert loss(measured["stalled lane, one cap"].run, 3, 6) == pytest.approx(0.9, abs=0.06)


def test_a_lane_that_refuses_connections_says_so(measured: dict[str, Measured]) -> None:
    run = measured["refused"].run
    refused = [row for row in rows(run / "errors.csv") if row["cause"] == "connect-refused"]
    assert {row["code"] for row in refused} == {"ECONNREFUSED"}
    assert 0.9 <= min(row.t for row in refused) <= 1.2
    assert loss(run, 1.2, 1.8) == pytest.approx(1 / 3, abs=0.08)
    assert loss(run, 2.5, 3.5) < 0.01


def test_one_retry_of_ours_cures_errors_and_is_counted(measured: dict[str, Measured]) -> None:
    run, (effect,) = measured["retried"].run, measured["retried"].truth["effects"]
    offered, failed, retried = (
        sum(row.n(name) for row in rows(run / "series.csv"))
        for name in ("offered", "failed", "retried")
    )
    # One after the other, while every second attempt fails: the next one is always good.
    assert effect["hit"] > 20
    assert (retried, failed) == (effect["hit"], 0)
    assert offered > retried


def test_a_closed_loop_waits_for_the_database(measured: dict[str, Measured]) -> None:
    stopped = measured["closed loop"].stopped
    assert stopped["loop"] == "closed"
    assert 40 * stopped["end_t"] < stopped["ok"] <= 4 / 0.020 * stopped["end_t"] + 4


def test_the_seed_decides_what_is_offered(measured: dict[str, Measured], tmp_path: Path) -> None:
    again = measure_all(tmp_path, {"poisson": SCENARIOS["poisson"]})["poisson"]
    series = [
        [(row["t"], row["op"], row["offered"]) for row in rows(run / "series.csv")]
        for run in (measured["poisson"].run, again.run)
    ]
    shortest = min(map(len, series))
    assert shortest > 30
    assert series[0][:shortest] == series[1][:shortest]
