"""A blackout is time in which nothing succeeds although something is wanted, at whatever rate."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measure.signals import flat_level, make_series, make_signal
from tests.measure.views import data_of, view
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.measure.blackout import Blackout, blackout_of
from brownout.measure.failover import client_recovered_in, client_recovered_time
from brownout.measure.lanes import blackouts_by_lane, partial_outage, worst_partial_outage
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import Floats
from brownout.run.lanes import Lane, LaneKey
from brownout.run.table import OUTCOME_COLUMNS, SERIES_COLUMNS, Series, Table, frozen

SETTINGS = MeasureSettings.default()


@pytest.mark.parametrize(
    ("ok", "total", "longest"),
    [
        ([80] * 40, 0.0, 0.0),
        ([80] * 10 + [0] * 20 + [80] * 10, 2.0, 2.0),
        ([80] * 10 + [0] * 5 + [80] * 5 + [0] * 10 + [80] * 10, 1.5, 1.0),
        ([80] * 10 + [40] + [0] * 10 + [20] + [80] * 18, 1.125, 1.125),  # edges inside buckets
        ([80] * 10 + [0] * 5 + [40] + [0] * 5 + [80] * 19, 1.05, 0.55),  # shared edge counts once
        ([80] * 20 + [0] * 20, 2.0, 2.0),
    ],
)
def test_a_blackout_is_the_time_without_any_ok(ok: list[int], total: float, longest: float) -> None:
    signal = make_signal(ok, [80] * 40)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert (found.total, found.longest) == pytest.approx((total, longest))


@pytest.mark.parametrize("rate", [2, 5, 8])
@pytest.mark.parametrize("closed", [False, True])
def test_a_slow_stream_that_is_refused_for_20_s_has_a_blackout_of_20_s(
    rate: int, closed: bool
) -> None:
    starts = np.arange(60 * rate) / rate
    bucket = np.floor(starts * 10 + 1e-6).astype(int)
    served = (starts < 20) | (starts >= 40)
    offered = np.bincount(bucket, minlength=600)
    ok = np.bincount(bucket[served], minlength=600)
    signal = make_signal(ok.tolist(), offered.tolist(), closed=closed)
    found = blackout_of(signal, flat_level(float(rate)), 15.0, 60.0, SETTINGS)
    assert found is not None
    assert found.resolution == pytest.approx(1 / rate)
    assert found.longest == pytest.approx(20.0, abs=1 / rate)


def test_the_longest_blackout_is_where_nothing_was_served() -> None:
    ok = [80] * 10 + [0] * 5 + [80] * 5 + [40] + [0] * 10 + [80] * 9
    found = blackout_of(make_signal(ok, [80] * 40), flat_level(800.0), 0.5, 4.0, SETTINGS)
    assert found is not None
    assert found.longest_at == pytest.approx((2.05, 3.1))
    calm = blackout_of(make_signal([80] * 40, [80] * 40), flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert calm is not None
    assert calm.longest_at is None


def test_buckets_in_which_nothing_is_offered_neither_end_nor_begin_a_blackout() -> None:
    offered = [1, 0, 0, 0, 0] * 16  # 2 a second; those from 2 s to 5 s fail
    ok = [n if not 20 <= i < 50 else 0 for i, n in enumerate(offered)]
    found = blackout_of(make_signal(ok, offered), flat_level(2.0), 0.0, 8.0, SETTINGS)
    assert found is not None
    assert found.total == pytest.approx(3.0)


def test_a_time_in_which_nothing_is_wanted_is_no_blackout() -> None:
    signal = make_signal([80] * 10 + [0] * 30, [80] * 10 + [0] * 30)
    found = blackout_of(signal, flat_level(800.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


@pytest.mark.parametrize(
    ("ok_only", "late", "blackout", "stall"),
    [(False, 0, 0.0, 2.9), (False, 1, 2.9, 0.0), (True, 0, 2.9, None)],
)
def test_a_wait_of_all_after_which_all_is_served_in_time_is_a_stall_and_not_an_outage(
    ok_only: bool, late: int, blackout: float, stall: float | None
) -> None:
    """The first operation of the wait may be late; of somebody else's series only ok is known."""
    pending = [0] * 10 + [8] * 29 + [0]
    offered = [80] * 10 + [1] * 30
    ok = [80] * 10 + [0] * 29 + [30]
    served = [80] * 10 + [1 - late] + [1] * 29
    signal = make_signal(ok, offered, pending=pending, served=served)
    found = blackout_of(
        replace(signal, ok_only=ok_only, open_loop=not ok_only), flat_level(800.0), 0.0, 4.0,
        SETTINGS,
    )  # fmt: skip
    assert found is not None
    assert found.total == pytest.approx(blackout, abs=0.08)
    assert found.stall == (None if stall is None else pytest.approx(stall, abs=0.08))


@given(
    st.lists(st.integers(0, 3), min_size=20, max_size=60),
    st.lists(st.integers(1, 9), min_size=60, max_size=60),
)
def test_what_is_all_served_in_time_has_no_blackout_however_late_the_answers(
    offered: list[int], delays: list[int]
) -> None:
    ok = [0] * (len(offered) + 10)
    for bucket, count in enumerate(offered):
        ok[bucket + delays[bucket]] += count
    born = [*offered, *[0] * 10]
    pending = np.cumsum(np.subtract(born, ok)).tolist()
    signal = make_signal(ok, born, served=born, pending=pending)
    found = blackout_of(signal, flat_level(15.0), 0.0, len(ok) / 10, SETTINGS)
    assert found is not None
    assert (found.total, found.longest, found.longest_at) == (0.0, 0.0, None)


@pytest.mark.parametrize("op", ["write", "read"])
def test_the_longer_outage_of_reads_and_of_writes_is_that_of_the_whole_load(op: str) -> None:
    """A primary that is cut off serves reads for a while; no write succeeds for 9.8 s."""
    half, dark = [40] * 400, [40] * 300 + [0] * 98 + [40] * 2
    both = [40] * 300 + [0] * 59 + [40] * 41
    counts = {"write": (both, dark), "read": (dark, both)}[op]
    data = data_of(series_of_two(half, *counts), SETTINGS)
    seen = view(data, 30.0, 40.0)
    assert seen.blackout is not None
    assert seen.blackout.op == op
    assert (seen.blackout.total, seen.blackout.longest) == pytest.approx((9.8, 9.8))
    assert seen.blackout.longest_at == pytest.approx((30.0, 39.8))
    alone = blackout_of(seen.signal, seen.level, seen.start, seen.end, SETTINGS)
    assert alone is not None
    assert alone.longest == pytest.approx(5.95)  # of half of the load nothing more can be told


def test_where_neither_was_served_for_as_long_the_outage_is_of_all() -> None:
    half, dark = [40] * 400, [40] * 300 + [0] * 30 + [40] * 70
    seen = view(data_of(series_of_two(half, dark, dark), SETTINGS), 30.0, 40.0)
    assert seen.blackout is not None
    assert seen.blackout.op is None
    assert seen.blackout.longest == pytest.approx(3.0)
    assert seen.blackout.resolution == pytest.approx(1 / 400)  # of the slower of both


def test_a_slow_stream_that_is_served_has_no_blackout() -> None:
    offered = [1, 0, 0, 0, 0] * 8
    found = blackout_of(make_signal(offered, offered), flat_level(2.0), 0.0, 4.0, SETTINGS)
    assert found is not None
    assert found.total == 0.0


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=60))
def test_a_blackout_is_no_longer_than_the_time_and_no_shorter_than_its_dark_buckets(
    buckets: list[tuple[int, bool]],
) -> None:
    offered = [n for n, _ in buckets]
    ok = [n if served else 0 for n, served in buckets]
    length = len(buckets) / 10
    found = blackout_of(make_signal(ok, offered), flat_level(10.0), 0.0, length, SETTINGS)
    assert found is not None
    dark = sum(1 for n, served in buckets if n and not served) / 10
    assert dark - 1e-9 <= found.total <= length + 1e-9
    assert found.longest <= found.total + 1e-9


def test_without_a_level_a_blackout_is_not_known() -> None:
    assert blackout_of(make_signal([0] * 40), flat_level(0.0), 0.0, 4.0, SETTINGS) is None


def test_one_lane_may_be_dark_while_the_others_are_not() -> None:
    dark = np.arange(200) // 30 == 4  # from 12.0 to 15.0 s
    full, none = np.full(200, 40), np.zeros(200, np.int64)
    served = np.where(dark, 0, 40)
    lanes: dict[LaneKey, Lane] = {
        LaneKey("n1", "write"): {"offered": full, "ok": served, "bad": full - served,
                                 "pending": np.where(dark, 40, 0)},
        LaneKey("n1", "read"): {"offered": full, "ok": full, "bad": none, "pending": none},
        LaneKey("n2", "write"): {"offered": full, "ok": full, "bad": none, "pending": none},
        LaneKey("new", "write"): {"offered": np.where(dark, 40, 0), "ok": none,
                                  "bad": np.where(dark, 40, 0), "pending": none},
    }  # fmt: skip
    found = blackouts_by_lane(lanes, (0.0, 10.0), (12.0, 20.0), SETTINGS, open_loop=True)
    assert {str(key): length for key, length in found.items()} == {
        "n1 read": 0.0, "n1 write": pytest.approx(3.0), "n2 write": 0.0,
    }  # fmt: skip


def lane(ok: list[int]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """A lane to which 40 operations are offered in every bucket."""
    counts = np.asarray(ok, np.int64)
    return {"offered": np.full(len(ok), 40), "ok": counts, "bad": 40 - counts,
            "pending": np.zeros(len(ok), np.int64)}  # fmt: skip


def summed(*lanes: Lane) -> Lane:
    return {name: np.sum([each[name] for each in lanes], axis=0) for name in lanes[0]}


def series_of_two(offered: list[int], reads: list[int], writes: list[int]) -> Series:
    """A load with as many reads as writes, of which so many are served."""
    counts = {"offered": (offered, offered), "ok": (reads, writes),
              "failed": (np.subtract(offered, reads), np.subtract(offered, writes))}  # fmt: skip

    def table(names: Sequence[str]) -> Table:
        none = np.zeros(len(offered))
        columns = {
            name: np.stack(counts.get(name, (none, none)), axis=1).astype(np.int64)
            for name in names
        }
        return Table((("app", "read"), ("app", "update")), frozen(columns))

    return Series(table(SERIES_COLUMNS), table(OUTCOME_COLUMNS))


DARK_2_S = [40] * 300 + [0] * 20 + [40] * 80


@pytest.mark.parametrize(
    ("one", "other", "longest"),
    [
        (DARK_2_S, [40] * 400, 2.0),
        ([40] * 400, [40] * 400, 0.0),
        (DARK_2_S, DARK_2_S, 0.0),  # all of it is a blackout
        (DARK_2_S, [40] * 295 + [0] * 10 + [40] * 95, 1.5),  # half a second of it is
        (DARK_2_S, [40] * 310, 1.0),  # of the other nothing is known after that
    ],
)
def test_a_partial_outage_is_a_dark_lane_beside_one_that_is_served(
    one: list[int], other: list[int], longest: float
) -> None:
    lanes = {"a": lane(one), "b": lane(other)}
    data = data_of(make_series([80] * 400, [80] * 400), SETTINGS, lanes=lanes)
    assert partial_outage(view(data, 29.0, 40.0), data) == pytest.approx(longest)


def partial_of(starts: list[Floats], delay: float = 0.0, closed: bool = False) -> float | None:
    """The partial outage where lane 0 refuses what starts from 30 to 56 s, in a load of 60 s.

    `starts` are the intended starts by lane; an operation takes up to twice `delay`, at random.
    """
    rng = np.random.default_rng(len(starts[0]))
    lanes, sums = dict[str, Lane](), np.zeros((2, 600), np.int64)
    for number, begun in enumerate(starts):
        refused = (number == 0) & (begun >= 30.0) & (begun < 56.0)
        done = begun + np.where(refused, 0.0, rng.uniform(0.0, 2 * delay, len(begun)))
        of = [np.floor(t * 10 + 1e-6).astype(int) for t in (begun, done[~refused], done[refused])]
        offered, ok, bad = (np.bincount(at, minlength=600)[:600] for at in of)
        lanes[str(number)] = {
            "offered": offered, "ok": ok, "bad": bad, "pending": np.cumsum(offered - ok - bad),
        }  # fmt: skip
        sums += offered, offered - bad
    series = make_series(sums[0].tolist(), sums[1].tolist(), closed=closed)
    data = data_of(series, MeasureSettings.lab(), lanes=lanes)
    return partial_outage(view(data, 30.0, 60.0), data)


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02])
@pytest.mark.parametrize("rate", [20, 40, 60, 80])
def test_random_keys_do_not_cut_a_partial_outage_to_pieces(rate: int, delay: float) -> None:
    starts = np.arange(0.0, 60.0, 1 / rate)
    for seed in range(25):
        lane_of = np.random.default_rng(seed).integers(0, 2, len(starts))
        found = partial_of([starts[lane_of == 0], starts[lane_of == 1]], delay)
        assert found == pytest.approx(26.0, abs=0.5), seed


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02])
@pytest.mark.parametrize("rates", [(20, 20, 20), (20, 60), (60, 20), (60, 1), (50, 50)])
def test_random_arrivals_do_not_cut_a_partial_outage_to_pieces(
    rates: tuple[int, ...], delay: float
) -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        starts = [np.sort(rng.uniform(0.0, 60.0, rng.poisson(rate * 60))) for rate in rates]
        assert partial_of(starts, delay) == pytest.approx(26.0, abs=0.5), seed


def test_a_lane_that_stalls_and_serves_all_of_it_in_time_is_not_out() -> None:
    stalled = dict(lane(DARK_2_S))
    stalled["bad"] = np.zeros(400, np.int64)
    stalled["ok"] = stalled["ok"] + np.where(np.arange(400) == 320, 800, 0)
    data = data_of(make_series([80] * 400, [80] * 400), SETTINGS,
                   lanes={"a": stalled, "b": lane([40] * 400)})  # fmt: skip
    assert partial_outage(view(data, 29.0, 40.0), data) == 0.0


def test_writes_of_one_lane_are_out_though_its_reads_go_to_the_second_copy() -> None:
    """A node of five is killed: the writes of its fifth fail for 2.7 s, its reads do not."""
    dead = [40] * 300 + [0] * 27 + [40] * 73
    names, ops = [f"n{number}" for number in range(1, 6)], ("read", "write")
    lanes = {LaneKey(name, op): lane([40] * 400) for name in names for op in ops}
    lanes[LaneKey("n3", "write")] = lane(dead)
    data = data_of(make_series([400] * 400, [400] * 400), SETTINGS, lanes=lanes)
    seen = view(data, 30.0, 40.0)
    assert partial_outage(seen, data) == pytest.approx(2.7)
    assert worst_partial_outage(seen, data) == (LaneKey("n3", "write"), partial_outage(seen, data))
    assert client_recovered_time(seen, data) == pytest.approx((2.7, 2.8))
    assert client_recovered_in(seen, data) == LaneKey("n3", "write")
    together = {LaneKey(name): summed(*(lanes[LaneKey(name, op)] for op in ops)) for name in names}
    before = data_of(make_series([400] * 400, [400] * 400), SETTINGS, lanes=together)
    assert partial_outage(seen, before) == 0.0  # as files have it that do not tell them apart


def test_a_short_stop_of_all_is_no_partial_outage_though_lanes_stop_a_little_apart() -> None:
    one = lane([40] * 299 + [30, 0, 0, 0, 30] + [40] * 96)
    other = lane([40] * 299 + [35, 0, 0, 0, 35] + [40] * 96)
    data = data_of(make_series([80] * 400, [80] * 400), SETTINGS, lanes={"a": one, "b": other})
    assert partial_outage(view(data, 29.0, 40.0), data) == 0.0


@pytest.mark.parametrize(("before", "closed"), [(0, False), (1, False), (1, True), (400, True)])
def test_lanes_to_which_nothing_comes_while_all_wait_for_another_do_not_serve(
    before: int, closed: bool
) -> None:
    """Lane b had `before` operations in 10 s; while a is paused, nothing comes to it."""
    operations = np.where((np.arange(400) >= 300) & (np.arange(400) < 320), 0, before // 100)
    operations[200] += before % 100
    none = np.zeros(400, np.int64)
    lanes = {
        "a": lane(DARK_2_S),
        "b": {"offered": operations, "ok": operations, "bad": none, "pending": none},
    }
    series = make_series([80] * 400, [80] * 400, closed=closed)
    data = data_of(series, SETTINGS, lanes=lanes)
    assert partial_outage(view(data, 29.0, 40.0), data) == 0.0


@pytest.mark.parametrize("lanes", [{}, {"http": lane(DARK_2_S)}], ids=["none", "one"])
def test_without_two_lanes_a_partial_outage_is_not_measured(lanes: dict[str, Any]) -> None:
    data = data_of(make_series([80] * 400, [80] * 400), SETTINGS, lanes=lanes)
    assert partial_outage(view(data, 30.0, 40.0), data) is None


def test_a_lane_that_the_driver_left_is_not_out_until_it_is_used_again() -> None:
    """The driver goes elsewhere half a second after the fault, and comes back much later."""
    bucket = np.arange(600)
    away = (bucket >= 305) & (bucket < 500)
    offered = np.where(away, 0, 6)
    first = {"offered": offered, "ok": np.where((bucket >= 300) & (bucket < 305), 0, offered)}
    second = {"offered": np.where(away, 6, 0), "ok": np.where(away, 6, 0)}
    lanes = {
        name: {**lane, "bad": lane["offered"] - lane["ok"], "pending": np.zeros_like(bucket)}
        for name, lane in {"a": first, "b": second}.items()
    }
    total = make_series(*((first[n] + second[n]).tolist() for n in ("offered", "ok")))
    data = data_of(total, MeasureSettings.lab(), lanes=lanes)
    found = blackouts_by_lane(data.lanes, (10.0, 30.0), (30.0, 60.0), data.settings, open_loop=True)
    assert {str(key): length for key, length in found.items()} == {"a": pytest.approx(0.5)}
    assert partial_outage(view(data, 30.0, 60.0), data) == 0.0


@pytest.mark.parametrize(("closed", "seconds"), [(False, 1.2), (True, 2.2)])
def test_what_hangs_in_a_lane_that_the_driver_left_does_not_prolong_its_outage(
    closed: bool, seconds: float
) -> None:
    """A node hangs, and after 1.2 s another one serves its keys. What was sent to it waits for the
    deadline of 1 s. In closed loop the waiting workers would have sent more."""
    left = {"offered": np.array([40] * 312 + [0] * 88), "ok": np.array([40] * 300 + [0] * 100),
            "bad": np.array([0] * 310 + [40] * 12 + [0] * 78),
            "pending": np.array([0] * 300 + [400] * 22 + [0] * 78)}  # fmt: skip
    series = make_series([80] * 400, [80] * 300 + [40] * 12 + [80] * 88, closed=closed)
    data = data_of(series, SETTINGS, lanes={"a": left, "b": lane([40] * 400)})
    assert partial_outage(view(data, 30.0, 40.0), data) == pytest.approx(seconds)
    lanes = blackouts_by_lane(
        data.lanes, (10.0, 30.0), (30.0, 40.0), SETTINGS, open_loop=not closed
    )
    assert lanes[LaneKey("a")] == pytest.approx(seconds)


#: The workers of a closed loop and when nothing answers them, as (first worker, last, from, to).
Away = tuple[int, int, float, float]


def closed_loop(
    away: Sequence[Away], deadline: float, writers: int = 0, took: float = 0.005
) -> Blackout:
    """A load of 8 workers for 60 s; the first `writers` of them write, the others read.

    An operation that nobody answers waits until somebody does, or for its deadline.
    """
    counts = {name: np.zeros((600, 2)) for name in ("offered", "ok", "failed", "born", "served")}
    for worker in range(8):
        t, column = worker * took / 8, int(worker < writers)
        while t < 59.99:
            done = t + took
            for first, last, since, until in away:
                if first <= worker <= last and done > since and t < until:
                    done = max(done, until + took)
            ok = done - t <= deadline
            done = done if ok else t + deadline
            begun, ended = int(t * 10 + 1e-6), int(done * 10 + 1e-6)
            counts["offered"][begun, column] += 1
            counts["served"][begun, column] += ok
            if ended < 600:
                counts["ok" if ok else "failed"][ended, column] += 1
            t = done
    by_end = {name: counts[name] for name in ("offered", "ok", "failed")}
    by_end["pending"] = np.cumsum(counts["offered"] - counts["ok"] - counts["failed"], axis=0)
    by_start = {"offered": counts["offered"], "ok": counts["served"],
                "failed": counts["offered"] - counts["served"]}  # fmt: skip

    def table(names: Sequence[str], by: dict[str, Any]) -> Table:
        none = np.zeros((600, 2))
        columns = {name: by.get(name, none).astype(np.int64) for name in names}
        return Table((("app", "read"), ("app", "update")), frozen(columns))

    series = Series(
        table(SERIES_COLUMNS, by_end), table(OUTCOME_COLUMNS, by_start), frozenset({"app"})
    )
    seen = view(data_of(series, MeasureSettings.lab()), 29.9, 60.0).blackout
    assert seen is not None
    return seen


FRACTIONS = (0.0, 0.03, 0.052, 0.097)


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize(
    ("deadline", "hang"),
    [(0.5, 0.9), (1.0, 1.02), (1.0, 1.5), (1.0, 1.97), (1.0, 2.5), (1.0, 3.2), (5.0, 5.05),
     (5.0, 6.0), (5.0, 9.5), (5.0, 12.0)],
)  # fmt: skip
@pytest.mark.parametrize("writers", [0, 4, 8])
def test_a_closed_loop_whose_workers_all_wait_beyond_their_deadline_has_an_outage_as_long(
    deadline: float, hang: float, fraction: float, writers: int
) -> None:
    start = 30.0 + fraction
    found = closed_loop([(0, 7, start, start + hang)], deadline, writers)
    assert (found.total, found.longest) == pytest.approx((hang, hang), abs=0.05)
    assert found.longest_at == pytest.approx((start, start + hang), abs=0.05)
    assert (found.stall, found.op) == (0.0, None)


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize(("deadline", "hang"), [(0.5, 0.4), (1.0, 0.9), (5.0, 1.5), (5.0, 4.9)])
def test_a_closed_loop_that_is_served_in_time_after_all_stalled(
    deadline: float, hang: float, fraction: float
) -> None:
    start = 30.0 + fraction
    found = closed_loop([(0, 7, start, start + hang)], deadline)
    assert (found.total, found.longest_at) == (0.0, None)
    assert found.stall == pytest.approx(hang, abs=0.05)


@pytest.mark.parametrize("fraction", FRACTIONS[1:])
@pytest.mark.parametrize("deadline", [1.0, 5.0])
@pytest.mark.parametrize("since", [25.0, 31.7, None])
def test_a_stall_of_those_that_are_served_is_none_of_all_while_others_wait_for_a_lost_lane(
    since: float | None, deadline: float, fraction: float
) -> None:
    """Two workers wait for a server that is gone; the six others do so for 0.4 s only."""
    start = 32.0 + fraction
    lost = (0, 1, start if since is None else since, 45.0)
    found = closed_loop([lost, (2, 7, start, start + 0.4)], deadline)
    assert found.total == 0.0
    assert found.stall == pytest.approx(0.4, abs=0.1)  # of a quarter of the rate nothing is known


@pytest.mark.parametrize(("first", "last", "op"), [(0, 3, "write"), (4, 7, "read")])
@pytest.mark.parametrize("hang", [1.5, 1.9, 4.0])
def test_writes_or_reads_alone_that_wait_beyond_their_deadline_are_the_outage_of_a_closed_loop(
    hang: float, first: int, last: int, op: str
) -> None:
    found = closed_loop([(first, last, 30.03, 30.03 + hang)], 1.0, writers=4)
    assert found.op == op
    assert found.longest == pytest.approx(hang, abs=0.05)


@pytest.mark.parametrize("at", [25.352, 25.4, 25.97])
@pytest.mark.parametrize(("deadline", "outage"), [(1.0, 1.05), (1.0, 1.15), (1.0, 1.5), (2.0, 2.1)])
@pytest.mark.parametrize("concurrency", [0, 8])
def test_an_outage_a_little_longer_than_the_deadline_is_one_in_either_loop(
    tmp_path: Path, concurrency: int, deadline: float, outage: float, at: float
) -> None:
    limit = {"measure": "longest_blackout", "scope": "total", "limit": 0.5,
             "limit_from": "test", "why": ""}  # fmt: skip
    script = RunScript(
        concurrency=concurrency, deadline_s=deadline, fault_at=at, outage_s=outage, limits=(limit,),
    )  # fmt: skip
    impact = analyze(build_run(tmp_path, script))
    (fault,) = impact.faults
    assert fault.number("longest_blackout") == pytest.approx(outage, abs=0.08)
    assert fault.number("longest_stall") == 0.0
    assert impact.verdict == "fail"
