"""Several series in one file: holes, restarts and failures of each, before they are added up."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.run.foreign.outputs import BEGIN
from tests.run.foreign.test_reader import impact_of, parsed
from tests.wording import naming

from brownout.base.errors import ConfigurationError

T0 = f"{BEGIN + 60}"


def table(header: str, rows: Iterable[tuple[object, ...]]) -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def prometheus(*series: tuple[dict[str, str], Iterable[tuple[float, float]]]) -> str:
    result = [
        {"metric": labels, "values": [[BEGIN + t, str(value)] for t, value in values]}
        for labels, values in series
    ]
    return json.dumps({"data": {"resultType": "matrix", "result": result}})


def dead(instance: str, t: int) -> bool:
    """Say whether n1, which is killed at 60 s for 10 s, leaves no row."""
    return instance == "n1" and 60 <= t < 70


INSTANCES = table(
    "time,instance,ok",
    [(t, n, 102) for t in range(120) for n in ("n1", "n2", "n3") if not dead(n, t)],
)
RATES = prometheus(
    *(({"instance": n}, [(t + 1, 102.0) for t in range(120) if not dead(n, t)])
      for n in ("n1", "n2", "n3"))
)  # fmt: skip


@pytest.mark.parametrize(("text", "fault_at"), [(INSTANCES, "60"), (RATES, T0)])
def test_a_hole_of_one_series_is_asked_about_and_costs_only_that_series(
    text: str, fault_at: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=naming("n1", "--gaps zero", "--gaps unknown")):
        parsed(tmp_path, text, fault_at=fault_at)
    with pytest.raises(ConfigurationError, match=naming("n1")):
        parsed(tmp_path, text, fault_at=fault_at, gaps="error")
    found = impact_of(parsed(tmp_path, text, fault_at=fault_at, gaps="zero"))
    assert found.course.blackout == 0
    assert found.drops.tps_drop == pytest.approx(1 / 3, abs=0.01)
    assert found.losses.lost_operations == pytest.approx(1020, rel=0.02)
    unknown = impact_of(parsed(tmp_path, text, fault_at=fault_at, gaps="unknown"))
    assert unknown.ranges["lost_operations"] == pytest.approx((0, 1020), rel=0.02)
    assert unknown.ranges["tps_drop"] == pytest.approx((0, 1 / 3), abs=0.01)


def test_a_pod_that_is_replaced_leaves_no_hole_behind(tmp_path: Path) -> None:
    rows = [
        (t, pod, 100)
        for t in range(120)
        for pod in ("old" if t < 70 else "new", "other")
        if not 70 <= t < 75 or pod == "other"
    ]
    found = impact_of(parsed(tmp_path, table("t,pod,ok", rows), fault_at="70"))
    assert found.course.blackout == 0
    assert found.losses.lost_operations == pytest.approx(500, rel=0.02)


def test_a_series_of_all_is_added_up_over_the_other_labels(tmp_path: Path) -> None:
    rows = [
        (t, n, op, 0 if n == "n2" and 60 <= t < 70 else count)
        for t in range(120)
        for n in ("n1", "n2")
        for op, count in (("total", 100), ("read", 80), ("write", 20))
    ]
    series = parsed(tmp_path, table("t,instance,op,ok", rows))
    assert (series.ok[0], series.ok[65]) == (200, 100)


@pytest.mark.parametrize("labels", [("1", "2", "3"), ("8080", "8081", "8082")])
def test_numbers_may_name_series(labels: tuple[str, ...], tmp_path: Path) -> None:
    rows = [(t, shard, 7 + t % 5, 100) for t in range(120) for shard in labels]
    series = parsed(tmp_path, table("t,shard,latency_ms,ok", rows), ok="ok")
    assert set(series.ok) == {300}
    kept = parsed(tmp_path, table("t,shard,latency_ms,ok", rows), where=(("shard", labels[0]),))
    assert set(kept.ok) == {100}


def test_two_columns_of_numbers_may_name_a_series_together(tmp_path: Path) -> None:
    rows = [(t, s, r, 100) for t in range(120) for s in (1, 2) for r in (1, 2)]
    assert set(parsed(tmp_path, table("t,shard,replica,ok", rows)).ok) == {400}


def test_measured_numbers_name_no_series(tmp_path: Path) -> None:
    rows = [(t, (17 * t + 5 * copy) % 97, 100) for t in range(120) for copy in (0, 1)]
    with pytest.raises(ConfigurationError, match=naming("line 2", "2 times", "--where")):
        parsed(tmp_path, table("t,latency_ms,ok", rows))


def test_a_counter_that_has_a_hole_and_begins_anew_keeps_its_total(tmp_path: Path) -> None:
    whole = [(15 * n, 1500.0 * n + 10**7) for n in range(40)]
    broken = [(t, v if t < 300 else 100.0 * (t - 420)) for t, v in whole if not 300 <= t < 420]
    text = prometheus(
        ({"instance": "n1"}, broken), ({"instance": "n2"}, whole), ({"instance": "n3"}, whole)
    )
    series = parsed(tmp_path, text, fault_at=f"{BEGIN + 285}")
    assert impact_of(series).losses.lost_operations == pytest.approx(13_500, rel=0.02)
    assert series.ok[0] / 15 == pytest.approx(300)
    assert max(series.ok) / 15 == pytest.approx(300)


def test_what_a_counter_counted_in_a_hole_is_spread_over_it(tmp_path: Path) -> None:
    whole = [(t, 100.0 * t) for t in range(120)]
    seen = [(t, v) for t, v in whole if not 60 <= t < 68]
    text = prometheus(({"instance": "n1"}, seen), ({"instance": "n2"}, whole))
    assert parsed(tmp_path, text, fault_at=T0).ok == pytest.approx([200] * 119)


def test_a_counter_of_a_table_restarts_by_itself(tmp_path: Path) -> None:
    rows = [(t, "n1", 100 * t + 10**6) for t in range(60)]
    rows += [(t, "n1", 100 * (t - 65)) for t in range(65, 120)]
    rows += [(t, "n2", 100 * t + 10**6) for t in range(120)]
    rows.sort()
    text = table("time,instance,requests_total", rows)
    for counter in (None, True):
        series = parsed(tmp_path, text, ok="requests_total", counter=counter)
        assert max(series.ok) == pytest.approx(200)
        assert impact_of(series).losses.lost_operations == pytest.approx(600, abs=110)


def test_counters_of_one_source_that_is_never_used_are_totals_all_the_same(tmp_path: Path) -> None:
    text = prometheus(
        ({"path": "/a"}, [(t, 100.0 * t) for t in range(120)]),
        ({"path": "/b"}, [(t, 7.0) for t in range(120)]),
        ({"path": "/c"}, [(t, float(t > 90)) for t in range(120)]),
    )
    series = parsed(tmp_path, text, fault_at=T0)
    assert series.ok[0] == pytest.approx(100)


@pytest.mark.parametrize("column", ["ok", "requests_total"])
def test_a_total_may_stand_still_for_most_of_the_time(column: str, tmp_path: Path) -> None:
    rows = [(t, 500 * (min(t, 30) + max(0, t - 95))) for t in range(120)]
    series = parsed(tmp_path, table(f"t,{column}", rows), fault_at="30")
    assert series.ok[0] == 500
    assert impact_of(series).course.blackout == pytest.approx(65, abs=1)


@pytest.mark.parametrize("column", ["ok", "ops_total", "request_count"])
@pytest.mark.parametrize(
    "count",
    [
        lambda t: 0 if 60 <= t < 67 else 500,
        lambda t: 0 if 60 <= t < 67 else min(500, 20 * (t - 66)) if t >= 67 else 500,
        lambda t: 100 if t < 50 else 200,
        lambda t: 0 if 60 <= t < 67 else 490 + 7 * t % 20,
    ],
    ids=["steady", "slow to come back", "more load", "varied"],
)
def test_counts_are_no_totals_even_by_their_name(
    column: str, count: Callable[[int], int], tmp_path: Path
) -> None:
    series = parsed(tmp_path, table(f"t,{column}", [(t, count(t)) for t in range(120)]))
    assert series.ok == [count(t) for t in range(120)]


def test_the_name_of_a_metric_decides(tmp_path: Path) -> None:
    values = [(15 * n, 4500.0 * (n >= 39)) for n in range(1, 41)]
    kept = [(15 * n, 15_000.0 * n) for n in range(1, 41)]
    text = prometheus(
        ({"__name__": "requests_total", "pod": "a"}, values),
        ({"__name__": "requests_total", "pod": "b"}, kept[:8]),
    )
    series = parsed(tmp_path, text, fault_at=f"{BEGIN + 60}")
    assert series.ok[0] / 15 == pytest.approx(1000)
    rates = parsed(tmp_path, text, fault_at=f"{BEGIN + 60}", counter=False)
    assert rates.ok[0] / 15 == pytest.approx(15_000)


def by_status(label: str, good: str, bad: str, answers: bool = True) -> str:
    """Return rates by status: all fail from 60 to 67 s, and where not `answers` none fails."""
    return prometheus(
        ({label: good}, [(t + 1, 0.0 if 60 <= t < 67 else 500.0) for t in range(120)]),
        ({label: bad}, [(t + 1, 500.0 * (answers and 60 <= t < 67)) for t in range(120)]),
    )


@pytest.mark.parametrize(
    ("label", "good", "bad"),
    [
        ("code", "200", "503"),
        ("status", "2xx", "5xx"),
        ("result", "success", "error"),
        ("http_status_code", "204", "500"),
        ("outcome", "ok", "failed"),
    ],
)
def test_series_of_failures_are_offered_and_not_served(
    label: str, good: str, bad: str, tmp_path: Path
) -> None:
    series = parsed(tmp_path, by_status(label, good, bad), fault_at=T0)
    assert series.offered is not None
    assert set(series.offered) == {500}
    found = impact_of(series)
    assert found.course.blackout == pytest.approx(7.0)
    assert found.losses.lost_operations == pytest.approx(3500)
    assert any(label in note for note in series.notes)


def test_where_failures_are_not_answered_the_outage_is_still_seen(tmp_path: Path) -> None:
    series = parsed(tmp_path, by_status("code", "200", "503", answers=False), fault_at=T0)
    assert series.offered is None
    assert impact_of(series).course.blackout == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("label", "good", "bad"), [("grpc_code", "OK", "Unavailable"), ("status", "hot", "cold")]
)
def test_a_status_that_is_not_understood_is_asked_about(
    label: str, good: str, bad: str, tmp_path: Path
) -> None:
    text = by_status(label, good, bad)
    with pytest.raises(ConfigurationError, match=naming(f"--where {label}=VALUE", bad)):
        parsed(tmp_path, text, fault_at=T0)
    found = impact_of(parsed(tmp_path, text, fault_at=T0, where=((label, good),)))
    assert found.course.blackout == pytest.approx(7.0)


def test_statuses_that_all_succeed_are_added_up(tmp_path: Path) -> None:
    series = parsed(tmp_path, by_status("code", "200", "204"), fault_at=T0)
    assert series.offered is None
    assert set(series.ok) == {500}


@pytest.mark.parametrize("sporadic", [True, False])
def test_a_table_by_status_is_told_apart(sporadic: bool, tmp_path: Path) -> None:
    """Where no status has a row of 0, the row of another one says that it was none."""
    rows = []
    for t in range(120):
        failing = 60 <= t < 67
        both = [(t, 200, 0 if failing else 500), (t, 503, 500 if failing else 0)]
        rows += [row for row in both if row[2] or not sporadic]
    series = parsed(tmp_path, table("time,status,count", rows), ok="count")
    assert set(series.offered or ()) == {500}
    assert impact_of(series).course.blackout == pytest.approx(7.0)


def test_counters_by_status_and_source_are_each_counted(tmp_path: Path) -> None:
    text = prometheus(
        *(
            (
                {"pod": pod, "code": code},
                [
                    (t, 10.0**6 * (code == "200") + 100.0 * sum(
                        (code == "503") == (pod == "a" and 60 <= s < 70) for s in range(t)
                    ))
                    for t in range(120)
                ],
            )
            for pod in ("a", "b")
            for code in ("200", "503")
        )
    )  # fmt: skip
    series = parsed(tmp_path, text, fault_at=T0)
    assert series.offered == pytest.approx([200] * 119)
    assert impact_of(series).losses.lost_operations == pytest.approx(1000, rel=0.02)


def test_what_a_killed_process_counted_since_its_last_row_is_a_range(tmp_path: Path) -> None:
    """Scraped every 15 s, it served as usual until 60 s, and n2 all the time."""
    text = prometheus(
        ({"__name__": "x_total", "pod": "n1"}, [(t, 100.0 * t) for t in range(5, 60, 15)]),
        ({"__name__": "x_total", "pod": "n2"}, [(t, 100.0 * t) for t in range(5, 240, 15)]),
    )
    series = parsed(tmp_path, text, fault_at=T0)
    found = impact_of(series)
    assert found.course.blackout is not None
    least, most = found.ranges.get("blackout", (found.course.blackout, found.course.blackout))
    assert least == 0
    least, most = found.ranges["lost_operations"]
    assert least is not None
    assert most is not None
    assert least <= 100 * (230 - 60) <= most


def test_totals_that_are_read_at_moments_of_their_own_end_with_the_file(tmp_path: Path) -> None:
    text = prometheus(
        *(({"__name__": "x_total", "pod": f"n{n}"},
           [(t + n, 100.0 * (t + n)) for t in range(5, 240, 15)])
          for n in range(3))
    )  # fmt: skip
    series = parsed(tmp_path, text, fault_at=T0)
    assert series.most is None
    assert impact_of(series).losses.lost_operations == 0
