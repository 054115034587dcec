"""Files of other tools as series: every known shape, and what is said of how it was read."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.run.foreign.outputs import BEGIN, LINES, RATE, REQUESTS, served
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.measure import MeasureSettings, ScopeImpact, series_impact
from brownout.run.foreign import FORMATS, ForeignSeries, Options, read


def parsed(home: Path, text: str, **options: Any) -> ForeignSeries:
    path = home / "file"
    path.write_text(text)
    return read(path, Options(**{"fault_at": "60", **options}))


def impact_of(series: ForeignSeries) -> ScopeImpact:
    reported = [not math.isnan(count) for count in series.ok]
    counts = [0.0 if math.isnan(count) else count for count in series.ok]
    findings = series_impact(
        series.start, counts, series.offered,
        fault_at=series.fault_at, until=series.end, reported=reported, most=series.most,
        settings=replace(MeasureSettings.default(), blackout_operations=max(5, series.silence)),
    )  # fmt: skip
    return findings.faults[0].scopes["total"]


def rows(count: Any = lambda t: 0 if 60 <= t < 67 else 500, step: int = 1) -> str:
    return "t,ok\n" + "".join(f"{t},{count(t)}\n" for t in range(0, 120, step))


@pytest.mark.parametrize("name", LINES)
def test_rows_of_a_tool_give_the_outage_that_was(name: str, tmp_path: Path) -> None:
    format, text, fault_at = LINES[name]
    series = parsed(tmp_path, text, fault_at=fault_at)
    assert (series.format, series.notes[0]) == (format, f"read as {format}")
    found = impact_of(series)
    assert found.course.blackout == pytest.approx(7.0, abs=0.02)
    assert found.course.recovery_time == pytest.approx(7.0, abs=0.11)
    assert found.losses.lost_operations == pytest.approx(7 * RATE, rel=0.02)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_row_per_request_is_counted(name: str, tmp_path: Path) -> None:
    format, text, fault_at = REQUESTS[name]
    series = parsed(tmp_path, text, fault_at=fault_at)
    assert series.format == format
    assert (series.offered is None) == ("closed" in name)
    found = impact_of(series)
    assert found.course.blackout == pytest.approx(7.0, abs=0.11)
    assert found.course.recovery_time == pytest.approx(7.0, abs=0.21)
    assert found.losses.lost_operations == pytest.approx(7 * RATE, rel=0.05)


def test_a_header_that_vegeta_did_not_write_is_passed_over(tmp_path: Path) -> None:
    _, text, fault_at = REQUESTS["vegeta's CSV"]
    series = parsed(tmp_path, "timestamp,code,latency\n" + text, fault_at=fault_at)
    assert impact_of(series).course.blackout == pytest.approx(7.0, abs=0.11)


PRINTED = ("pgbench -P", "sysbench", "YCSB", "cassandra-stress", "asbench")


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("settings", [200, 3000])
def test_a_tool_may_print_its_settings_before_its_first_row(
    name: str, settings: int, tmp_path: Path
) -> None:
    """What does not fit into the head of a file takes `--format`."""
    format, text, fault_at = LINES[name]
    before = "".join(f"  Setting {place}: [a, b, c], some value\n" for place in range(settings))
    asked = format if settings > 1000 else ""
    series = parsed(tmp_path, before + text, fault_at=fault_at, format=asked)
    assert series.format == format
    assert impact_of(series).course.blackout == pytest.approx(7.0, abs=0.02)


def test_a_table_with_numbers_as_vegeta_writes_them_further_on_is_a_table(tmp_path: Path) -> None:
    text = "t,ok,offered,errors\n" + "".join(
        f"{(BEGIN + t) * 10**9},{1000 if t < 60 else 500},1000,0\n" for t in range(120)
    )
    assert parsed(tmp_path, text, fault_at=f"{BEGIN + 60}").format == "csv"


def test_a_tool_that_is_named_and_printed_nothing_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=naming("file", "no line of sysbench")):
        parsed(tmp_path, rows(), format="sysbench")


def test_a_summary_below_the_last_row_is_left_out_and_said(tmp_path: Path) -> None:
    _, text, fault_at = LINES["TSBS"]
    line = len(text.splitlines()) + 2
    summary = "\nSummary:\nloaded 90 metrics in 120.0sec with 2 workers (mean rate 1 metrics/sec)\n"
    series = parsed(tmp_path, text + summary, fault_at=fault_at)
    assert any(f"line {line}" in note for note in series.notes)
    assert impact_of(series).course.blackout == pytest.approx(7.0)
    with pytest.raises(ConfigurationError, match=f"file:{line}: has fewer"):
        parsed(tmp_path, text + summary + text.splitlines()[-1], fault_at=fault_at)


@pytest.mark.parametrize("value", ["-nan", "nan", "inf", "-inf"])
def test_a_number_that_json_does_not_have_is_read_as_null(value: str, tmp_path: Path) -> None:
    _, text, fault_at = LINES["memtier"]
    named = text.replace('"Max Latency": 1', f'"a -nan \\" nan": "inf", "Average Latency": {value}')
    series = parsed(tmp_path, named, fault_at=fault_at)
    assert series.format == "memtier"
    assert impact_of(series).course.blackout == pytest.approx(7.0)


def test_every_format_that_can_be_asked_for_is_recognised() -> None:
    recognised = {format for format, _, _ in (*LINES.values(), *REQUESTS.values())}
    assert recognised == set(FORMATS)


@pytest.mark.parametrize(
    ("unit", "factor"), [("s", 1), ("ms", 1000), ("us", 1_000_000), ("ns", 1_000_000_000)]
)
def test_times_since_1970_are_read_by_their_magnitude(
    unit: str, factor: int, tmp_path: Path
) -> None:
    text = "t,ok\n" + "".join(f"{(BEGIN + t) * factor},{served(t)}\n" for t in range(120))
    series = parsed(tmp_path, text, fault_at=str((BEGIN + 60) * factor))
    assert series.row_s == pytest.approx(1.0)
    assert series.fault_at == pytest.approx(BEGIN + 60)
    assert (unit == "s") != any("--unit overrides" in note for note in series.notes)


def test_a_unit_that_is_given_is_taken(tmp_path: Path) -> None:
    text = "t,ok\n" + "".join(f"{t * 10**9},{served(t)}\n" for t in range(120))
    series = parsed(tmp_path, text, fault_at="60000000000", unit="ns")
    assert (series.row_s, series.fault_at) == (1.0, 60.0)


def test_what_missing_rows_mean_is_asked(tmp_path: Path) -> None:
    text = "t,ok\n" + "".join(f"{t},{served(t)}\n" for t in range(120) if served(t))
    with pytest.raises(ConfigurationError, match=r"after line 61 .* 60 to 67, 7 rows") as error:
        parsed(tmp_path, text)
    assert "--gaps zero" in str(error.value)
    assert "--gaps unknown" in str(error.value)
    assert impact_of(parsed(tmp_path, text, gaps="zero")).course.blackout == pytest.approx(7.0)
    unknown = impact_of(parsed(tmp_path, text, gaps="unknown"))
    assert unknown.ranges["blackout"] == (0.0, 7.0)
    with pytest.raises(ConfigurationError, match=naming("60 to 67", "7 rows")):
        parsed(tmp_path, text, gaps="error")


def test_a_gap_long_before_the_fault_is_left_out(tmp_path: Path) -> None:
    text = "t,ok\n" + "".join(f"{t},500\n" for t in range(300) if t not in (20, 21))
    series = parsed(tmp_path, text, fault_at="200")
    assert series.start[0] == 22
    assert any("left out" in note for note in series.notes)


def test_a_rate_is_recognised_by_its_name_or_by_fractions(tmp_path: Path) -> None:
    text = rows(lambda t: 0 if t == 60 else 500, step=10)
    assert parsed(tmp_path, text).ok[0] == 500
    assert parsed(tmp_path, text, rate=True).ok[0] == 5000
    named = parsed(tmp_path, text.replace("ok", "ops/s"), ok="ops/s")
    assert named.ok[0] == 5000
    assert parsed(tmp_path, text.replace("ok", "ops/s"), ok="ops/s", rate=False).ok[0] == 500
    assert parsed(tmp_path, text.replace("500\n", "500.5\n")).ok[0] == 5005


def test_a_running_total_is_recognised_or_asked_for(tmp_path: Path) -> None:
    total, lines = 0, ["t,ok"]
    for t in range(120):
        total += served(t)
        lines.append(f"{t},{total if t < 90 else total - 83 * RATE}")  # restarted at 90 s
    series = parsed(tmp_path, "\n".join(lines) + "\n")
    assert sum(series.ok) == 112 * RATE
    assert any("restarted" in note for note in series.notes)
    assert parsed(tmp_path, "\n".join(lines) + "\n", counter=False).ok[1] == 2 * RATE


def test_counters_of_pods_go_on_when_one_is_replaced(tmp_path: Path) -> None:
    old = [[BEGIN + t, str(10 * t)] for t in range(60)]
    new = [[BEGIN + t, str(10 * (t - 64))] for t in range(64, 120)]
    other = [[BEGIN + t, str(10 * t)] for t in range(120)]
    series = [{"metric": {"pod": str(place)}, "values": values}
              for place, values in enumerate((old, new, other))]  # fmt: skip
    text = json.dumps({"data": {"resultType": "matrix", "result": series}})
    found = parsed(tmp_path, text, fault_at=f"{BEGIN + 60}")
    assert max(found.ok) == pytest.approx(20)
    assert impact_of(found).losses.lost_operations == pytest.approx(45, abs=10)


def test_several_series_are_added_up_or_one_is_kept(tmp_path: Path) -> None:
    text = "t,name,ok\n" + "".join(
        f"{t},GET,{3 * served(t)}\n{t},PUT,{served(t)}\n" for t in range(120)
    )
    assert parsed(tmp_path, text).ok[0] == 4 * RATE
    assert parsed(tmp_path, text, where=(("name", "PUT"),)).ok[0] == RATE
    with_all = text + "".join(f"{t},all,{4 * served(t)}\n" for t in range(120))
    assert parsed(tmp_path, with_all).ok[0] == 4 * RATE


def test_a_series_that_is_absent_at_a_moment_is_a_gap(tmp_path: Path) -> None:
    text = "t,name,ok\n" + "".join(
        f"{t},GET,300\n" + (f"{t},PUT,200\n" if not 60 <= t < 67 else "") for t in range(120)
    )
    with pytest.raises(ConfigurationError, match=naming("PUT", "60 to 67", "--gaps zero")):
        parsed(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("t,ok,ok\n0,1,2\n", r"file:1: the header has the column 'ok' 2 times"),
        (rows().replace("40,500", "40,500,9"), r"file:42: has more cells than the header"),
        ("a," + rows().replace("\n", "\n1,").replace("1,40,500", "40"), r"file:42: has fewer"),
        (rows().replace("30,500", "30,abc"), r"file:32: ok: found 'abc', wanted a number"),
        (rows().replace("30,500", "30,-1"), r"file:32: ok: found '-1'"),
        (rows().replace("\n30,", "\nnoon,"), r"file:32: t: found 'noon'"),
        (rows(step=1).replace("\n30,", "\n29,"), r"the time of line 31 is there 2 times"),
        ("t,ok\n" + "".join(f"{t}000,9\n" for t in range(99)), r"1,000 s apart.*--unit ms"),
        ('{"a": 1, "b": [2]}', r"this JSON is not one that is known; found an object with a, b"),
        ('{"a": [1,', r"is not valid JSON"),
        ("", r"is empty"),
        ("t,ok\n", r"has no row"),
        ("\x00\x01", r"is a binary file"),
        ("<?xml version='1.0'?><testResults/>", r"is XML, .*output_format=csv"),
        ("when,ok\n0,1\n", r"has no column 't'; found when, ok; name it by --time"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_line(text: str, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=wanted) as error:
        parsed(tmp_path, text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_last_row_that_is_cut_short_is_left_out(tmp_path: Path) -> None:
    assert len(parsed(tmp_path, rows().rstrip("\n")[:-4]).ok) == 119


@pytest.mark.parametrize(
    ("cell", "count"),
    [("500,5", 500.5), ("1.234,5", 1234.5), ("500.5", 500.5), ("1 234", 1234.0)],
)
def test_a_comma_may_be_the_decimal_point(cell: str, count: float, tmp_path: Path) -> None:
    text = "t;ok\n" + "".join(f"{t};{cell}\n" for t in range(120))
    assert parsed(tmp_path, text).ok[0] == count


def test_a_file_with_the_latest_row_first_is_sorted(tmp_path: Path) -> None:
    head, *lines = rows().splitlines()
    series = parsed(tmp_path, "\n".join([head, *reversed(lines)]))
    assert series.start[:2] == [0.0, 1.0]


def test_a_fault_outside_of_the_rows_is_refused_in_the_files_own_terms(tmp_path: Path) -> None:
    text = "t,ok\n" + "".join(f"2024-03-01 12:{t // 60:02}:{t % 60:02},9\n" for t in range(120))
    with pytest.raises(ConfigurationError, match=r"2024-03-01T11:01:00Z is not within .* as UTC"):
        parsed(tmp_path, text, fault_at="2024-03-01T11:01:00")
    with pytest.raises(ConfigurationError, match="counts its seconds since 1970"):
        parsed(tmp_path, text, fault_at="60")


@pytest.mark.parametrize("name", ["JMeter", "vegeta's CSV", "hey"])
def test_a_fault_outside_of_the_requests_is_refused_in_words(name: str, tmp_path: Path) -> None:
    _, text, fault_at = REQUESTS[name]
    absolute = name != "hey"
    wanted = "2023-11-14T22:13:20Z" if absolute else "from 0 to 120"
    for wrong in ("2023-11-14T21:14:20Z", "2023-11-14T23:14:20Z") if absolute else ("1060",):
        with pytest.raises(ConfigurationError, match=naming("--fault-at", wrong, wanted)):
            parsed(tmp_path, text, fault_at=wrong)
    assert parsed(tmp_path, text, fault_at=fault_at).fault_at


def days(zone: str = "", form: str = "2024-06-01 {}:{:02}:{:02}", hour: int = 12) -> str:
    """Return two minutes from noon on in which nothing is served from 12:01:00 to 12:01:07."""
    return "t,ok\n" + "".join(
        f"{form.format(hour, t // 60, t % 60)}{zone},{served(t)}\n" for t in range(120)
    )


@pytest.mark.parametrize("fault_at", ["2024-06-01T12:01:00+02:00", "2024-06-01T12:01:00Z"])
def test_a_zone_that_only_the_fault_names_is_refused(fault_at: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=naming("--fault-at", "zone")):
        parsed(tmp_path, days(), fault_at=fault_at)
    requests = days().replace(f",{RATE}\n", ",yes\n").replace(",0\n", ",no\n")
    with pytest.raises(ConfigurationError, match=naming("--fault-at", "zone")):
        parsed(tmp_path, requests, fault_at=fault_at)
    series = parsed(tmp_path, days(), fault_at="2024-06-01 12:01:00")
    assert impact_of(series).course.blackout == pytest.approx(7.0)


def test_a_zone_that_only_the_file_names_is_refused_but_for_utc(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=naming("--fault-at", "+02:00")):
        parsed(tmp_path, days("+02:00"), fault_at="2024-06-01 12:01:00")
    series = parsed(tmp_path, days("Z"), fault_at="2024-06-01 12:01:00")
    assert impact_of(series).course.blackout == pytest.approx(7.0)
    assert any("--fault-at" in note and "UTC" in note for note in series.notes)


def test_a_date_with_dots_begins_with_its_day(tmp_path: Path) -> None:
    text = "t;ok\n" + "".join(
        f"03.02.2026 {10 + t // 60}:{t % 60:02}:00;{0 if t == 70 else '1,5'}\n" for t in range(120)
    )
    series = parsed(tmp_path, text, fault_at="2026-02-03 11:10:00")
    assert series.fault_at == pytest.approx(series.start[70])
    assert series.ok[70] == 0


@pytest.mark.parametrize("zone", [" UTC", " Z", " +0000", " +0000 UTC", "Z", "+00:00", " GMT"])
def test_a_time_with_a_zone_is_read_however_it_is_written(zone: str, tmp_path: Path) -> None:
    for form in ("2024-06-01 {}:{:02}:{:02}", "2024/06/01 {}:{:02}:{:02}.000"):
        series = parsed(tmp_path, days(zone, form), fault_at=form.format(12, 1, 0) + zone)
        assert impact_of(series).course.blackout == pytest.approx(7.0)
        assert series.fault_at == 1717243260.0


def test_a_clock_that_is_put_back_is_said(tmp_path: Path) -> None:
    lines = [f"2024-10-27 02:{t // 60:02}:{t % 60:02},20" for t in range(0, 3600, 5)] * 2
    jittered = [line.replace(",", f".{place // 720},") for place, line in enumerate(lines)]
    named = [line.replace(",", ",a,") for line in lines] + [
        line.replace(",", ",b,") for line in lines
    ]
    for header, each in (("t,ok", lines), ("t,ok", jittered), ("t,name,ok", named)):
        twice = header + "\n" + "\n".join(each) + "\n"
        with pytest.raises(ConfigurationError, match=naming("put back", "UTC")):
            parsed(tmp_path, twice, fault_at="2024-10-27 02:30:00")
        zoned = "\n".join([header, *(line.replace(",", "Z,", 1) for line in each)])
        with pytest.raises(ConfigurationError) as error:
            parsed(tmp_path, zoned, fault_at="2024-10-27T02:30:00Z")
        assert "put back" not in str(error.value)


def test_a_comma_may_be_the_decimal_point_of_a_time(tmp_path: Path) -> None:
    text = "t;ok\n" + "".join(f"{t // 2},{5 * (t % 2)};{served(t // 2)}\n" for t in range(240))
    for fault_at in ("60,0", "60"):
        series = parsed(tmp_path, text, fault_at=fault_at)
        assert series.row_s == 0.5
        assert impact_of(series).course.blackout == pytest.approx(7.0)


def every_15_s(form: str = "{}", values: Any = lambda n: 0 if n in (20, 21) else 500) -> list[str]:
    return [form.format(values(n)) for n in range(40)]


@pytest.mark.parametrize("labels", [({"job": "app"},), ({"job": "app"}, {"job": "web"})])
def test_whole_numbers_of_prometheus_are_rates(
    labels: tuple[dict[str, str], ...], tmp_path: Path
) -> None:
    result = [
        {"metric": each,
         "values": [[BEGIN + 15 * n, value] for n, value in enumerate(every_15_s())]}
        for each in labels
    ]  # fmt: skip
    text = json.dumps({"data": {"resultType": "matrix", "result": result}})
    fault_at = f"{BEGIN + 285}"
    series = parsed(tmp_path, text, fault_at=fault_at)
    assert series.ok[0] == 15 * 500 * len(labels)
    assert parsed(tmp_path, text, fault_at=fault_at, rate=False).ok[0] == 500 * len(labels)


def frames(unit: str) -> str:
    field = {"name": "Value", "type": "number", "config": {"unit": unit}}
    values = [[1000 * (BEGIN + 15 * n) for n in range(40)], [int(v) for v in every_15_s()]]
    schema = {"fields": [{"name": "Time", "type": "time"}, field]}
    return json.dumps({"frames": [{"schema": schema, "data": {"values": values}}]})


@pytest.mark.parametrize(
    ("unit", "rate"),
    [("reqps", True), ("ops", True), ("rps", True), ("wps", True), ("iops", True), ("cps", True),
     ("short", False), ("", False), ("percent", False)],
)  # fmt: skip
def test_the_unit_of_a_grafana_field_says_whether_it_is_a_rate(
    unit: str, rate: bool, tmp_path: Path
) -> None:
    series = parsed(tmp_path, frames(unit), fault_at=f"{BEGIN + 285}")
    assert series.ok[0] == (7500 if rate else 500)
    assert any("--no-rate" in note if rate else "--rate" in note for note in series.notes)


def test_the_unit_is_that_of_the_first_cell_that_has_one(tmp_path: Path) -> None:
    cells = ["", "null", *every_15_s("{} ops/s")[2:]]
    text = "Time,all\n" + "".join(f"{BEGIN + 15 * n},{cell}\n" for n, cell in enumerate(cells))
    series = parsed(tmp_path, text, fault_at=f"{BEGIN + 300}", time="Time", ok="all")
    assert series.ok[0] == 7500


@pytest.mark.parametrize(
    ("column", "rate"),
    [("https_ok", False), ("GET /search", False), ("steps", False), ("generated", False),
     ("read_tps", True), ("readTps", True), ("ReadTPS", True),
     ("ops/s", True), ("Requests/sec", True), ("OpsPerSec", True), ("ops_per_second", True),
     ("req / s", True), ("request rate", True), ("opspersec", True), ("ops/s (all)", True)],
)  # fmt: skip
def test_only_whole_words_of_a_name_say_that_it_is_a_rate(
    column: str, rate: bool, tmp_path: Path
) -> None:
    text = rows(lambda t: 0 if t == 60 else 500, step=10).replace("ok", column)
    series = parsed(tmp_path, text, ok=column)
    assert series.ok[0] == (5000 if rate else 500)
    assert any("--no-rate" in note if rate else "--rate" in note for note in series.notes)


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        (("998", "1.002"), (998, 1002)),
        (("0", "1.002"), (0, 1002)),
        (("998,5", "1.002,5"), (998.5, 1002.5)),
        (("998", "1.000.002"), (998, 1_000_002)),
        (("1", "1.25"), (1, 1.25)),
        (("0.998", "1.002"), (0.998, 1.002)),
        (("1.998", "1.002"), (1.998, 1.002)),
        (("1998", "1.125"), (1998, 1.125)),
        (("998 ops", "1.002 ops"), (998, 1002)),
        (("998", "1,002"), (998, 1002)),
        (("998.5", "1,002"), (998.5, 1002)),
        (("998,5", "1.002"), (998.5, 1002)),
        (("998,25", "1,125"), (998.25, 1.125)),
        (("1", "1,25"), (1, 1.25)),
    ],
)
def test_a_dot_is_read_alike_in_the_whole_column(
    cells: tuple[str, str], counts: tuple[float, float], tmp_path: Path
) -> None:
    text = "t;ok\n" + "".join(f"{t};{cells[t % 2]}\n" for t in range(120))
    series = parsed(tmp_path, text)
    assert tuple(series.ok[:2]) == pytest.approx(counts)


def log(
    cell: Callable[[bool], str], column: str, places: Sequence[int] = (0, 310, 390, 840)
) -> str:
    """Return 4 requests a second, at times in ms, that are not served from 60 to 67 s."""
    return f"t,latency,{column}\n" + "".join(
        f"{second + place / 1000},0.01,{cell(served(second) > 0)}\n"
        for second in range(120) for place in places
    )  # fmt: skip


@pytest.mark.parametrize("places", [(0, 310, 390, 840), (0, 0, 0, 0)])
@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("success", "1", "0"),
        ("up", "1.0", "0.0"),
        ("ok", "1", "0"),
        ("failed", "0", "1"),
        ("isError", "false", "true"),
        ("error", "", "connection refused"),
        ("status", "200", ""),
        ("status", "200", "timeout"),
        ("status", "OK", "ERR"),
        ("http_code", "204", "0"),
    ],
)
def test_a_column_says_of_each_request_whether_it_succeeded(
    column: str, good: str, bad: str, places: Sequence[int], tmp_path: Path
) -> None:
    text = log(lambda ok: good if ok else bad, column, places)
    series = parsed(tmp_path, text, ok=column)
    assert series.offered is not None
    assert sum(series.offered) == 480
    assert impact_of(series).losses.lost_operations == pytest.approx(28)
    no_status = column == "status"
    assert no_status == any(note.endswith(" 28") for note in series.notes)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("ok", rows(lambda t: t % 2)),
        ("success", rows(lambda t: 0 if 60 <= t < 67 else 1)),
        ("success", "t,name,success\n" + "".join(
            f"{t},{name},{t % 2}\n" for t in range(120) for name in ("GET", "PUT"))),
        ("status_2xx", rows(lambda t: 200 + t % 3)),
    ],
)  # fmt: skip
def test_few_a_row_at_regular_times_are_counts(column: str, text: str, tmp_path: Path) -> None:
    series = parsed(tmp_path, text.replace("t,ok", f"t,{column}"), ok=column)
    assert series.offered is None


def test_a_count_in_a_column_of_ones_is_refused_or_read_as_asked(tmp_path: Path) -> None:
    times = [second + place / 10 for second in range(1000) for place in (0, 3, 4, 8)]
    text = "t,success\n" + "".join(f"{t},1\n" for t in times) + "1000,5\n"
    with pytest.raises(
        ConfigurationError, match=naming("file:4002", "success", "'5'", "--no-rate")
    ):
        parsed(tmp_path, text, ok="success")
    assert parsed(tmp_path, text, ok="success", rate=False, gaps="zero").offered is None
