"""`brownout impact`: the measures on a series that another tool made."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout

#: Rows of 0.1 s at 1,000/s; from 60 s on a dip of 40 % for 10 s, then as before.
RATE, FAULT, DIP, END = 100, 60.0, 10.0, 100.0


def _rows(name: Callable[[float], str] = lambda t: f"{t:.1f}") -> str:
    lines = []
    for bucket in range(int(END * 10)):
        t = bucket / 10
        served = RATE * 6 // 10 if FAULT <= t < FAULT + DIP else RATE
        lines.append(f"{name(t)},{RATE},{served}")
    return "\n".join(lines) + "\n"


def test_a_known_dip_is_measured(brownout: Brownout, home: Path) -> None:
    (home / "a.csv").write_text("t,offered,ok\n" + _rows())
    said = brownout("impact", "a.csv", "--fault-at", "60", "--offered", "offered", "--json")
    (fault,) = json.loads(said.out)["faults"]
    assert fault["tps_drop"] == pytest.approx(0.4, abs=0.001)
    assert fault["recovery_time"] == pytest.approx(DIP, abs=0.11)
    assert fault["lost_operations"] == pytest.approx(0.4 * RATE * 10 * DIP, rel=0.01)
    table = brownout("impact", "a.csv", "--fault-at", "60", "--offered", "offered").out
    assert "40 %" in table
    assert "4,000" in table


def test_columns_and_units_are_named(brownout: Brownout, home: Path) -> None:
    text = "when,wanted,served\n" + _rows(lambda t: f"{1000 * t:.0f}")
    (home / "a.csv").write_text(text)
    said = brownout("impact", "a.csv", "--fault-at", "60000", "--unit", "ms", "--time", "when",
                    "--ok", "served", "--offered", "wanted", "--json")  # fmt: skip
    (fault,) = json.loads(said.out)["faults"]
    assert fault["recovery_time"] == pytest.approx(DIP, abs=0.11)


def test_times_of_day_are_read_and_a_coarser_graph_sees_less(
    brownout: Brownout, home: Path
) -> None:
    begin = datetime(2026, 11, 22, 10, tzinfo=UTC)
    text = "time,offered,tps\n" + _rows(lambda t: (begin + timedelta(seconds=t)).isoformat())
    (home / "a.csv").write_text(text)
    said = brownout("impact", "a.csv", "--fault-at", "2026-11-22T10:01:00Z", "--time", "time",
                    "--ok", "tps", "--resolution", "30s", "--json")  # fmt: skip
    (fault,) = json.loads(said.out)["faults"]
    assert fault["tps_drop"] == pytest.approx(0.4, abs=0.001)
    assert 0 < fault["tps_drop_at_resolution"] < fault["tps_drop"]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a,b\n1,2\n", (), "no column 't'"),
        ("t,ok\n0,x\n0.1,y\n", (), "a.csv:2: ok: found 'x'"),
        ("t,ok\n" + "".join(f"{n},9\n" for n in range(90)), ("--fault-at", "noon"), "'noon'"),
        ("t,ok\n" + "".join(f"{n},9\n" for n in range(90) if n != 50), (), "--gaps zero"),
        ("t,ok\n" + "".join(f"{n},9\n" for n in range(9)), (), "--fault-at: 60 is not within"),
        ("t,ok\n" + "".join(f"{n},0\n" for n in range(90)), (), "nothing was served before"),
        ("t,ok\n", ("--fault-at", "60", "--format", "wrk"), "wanted one of csv, asbench"),
        ("t,ok\n", ("--fault-at", "60", "--where", "name"), "wanted COLUMN=VALUE"),
    ],
    ids=["no column", "no numbers", "no time", "gap", "outside", "nothing", "format", "where"],
)
def test_a_series_that_will_not_do_says_why(
    text: str, options: tuple[str, ...], words: str, brownout: Brownout, home: Path
) -> None:
    (home / "a.csv").write_text(text)
    said = brownout("impact", "a.csv", *(options or ("--fault-at", "60")))
    assert said.code == 64
    assert words in said.err


FIELD = Path(__file__).parents[1] / "data" / "field"


def _field(brownout: Brownout, name: str, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the document of a recorded series and its only fault."""
    answer = brownout("impact", str(FIELD / name), *options, "--json")
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    return document, document["faults"][0]


@pytest.mark.parametrize(
    ("name", "options", "outage_s", "recovered_s", "lost"),
    [
        ("01-per-second.csv", "1700000060 --gaps zero", 7, 7, 3500),
        ("02-stats_history.csv", "1700000061 --time Timestamp --ok Requests/s", 7, 7, 3500),
        ("02-stats_history.csv", "1700000061", 7, 7, 3500),
        ("03-intervals.csv", "60", 7, 7.2, 3507),
        ("03-last-row-short.csv", "40", 6, 6, 100_200),
        ("04-sysbench.csv", "102 --time seconds --ok tps", 10, 10, 2000),
        ("05-rows-10s.csv", "607", 30, 30, 15_000),
        ("05-rows-30s.csv", "607", 30, 30, 15_000),
        ("05-rows-60s.csv", "607", 30, 30, 15_000),
        ("05-rows-30s-offered.csv", "607 --offered offered", 30, 30, 15_000),
        ("07-counter.csv", "1700000060", 7, 7, 3500),
        ("08-grafana.csv", "2024-03-01T12:01:00+01:00 --gaps zero", 7, 7, 3500),
        ("08-grafana-comma.csv", "2024-03-01T12:01:00 --time Time --gaps zero", 7, 7, 3500),
        ("08-prom-nan.csv", "2024-03-01T12:01:00 --gaps zero", 7, 7, 3500),
        ("09-long.csv", "1700000060", 7, 7, 3500),
        ("09-long.csv", "1700000060 --where name=GET", 7, 7, 2100),
        ("11-noisy.csv", "300", 10, 10, 50_500),
        ("12-query_range.json", "1700000600", 30, 30, 15_000),
        ("18-k6-by-awk.csv", "1700000060 --gaps zero", 7, 7, 70),
    ],
)
def test_a_series_from_the_field_is_measured_right(
    name: str, options: str, outage_s: float, recovered_s: float, lost: float, brownout: Brownout
) -> None:
    _, fault = _field(brownout, name, "--fault-at", *options.split())
    assert fault["blackout"] == pytest.approx(outage_s, abs=0.11)
    assert fault["recovery_time"] == pytest.approx(recovered_s, abs=0.11)
    assert fault["lost_operations"] == pytest.approx(lost, rel=0.01)


def test_what_a_coarse_row_cannot_tell_is_a_range_and_never_no_outage(brownout: Brownout) -> None:
    _, fault = _field(brownout, "05-rows-60s.csv", "--fault-at", "607")
    assert fault["ranges"]["blackout"] == [0, 30]
    assert fault["ranges"]["recovery_time"] == [30, 53]
    table = brownout("impact", str(FIELD / "05-rows-60s.csv"), "--fault-at", "607").out
    assert "up to 30 s" in table
    assert "an outage of less than 3 s is not seen" in table
    _, fault = _field(brownout, "04-sysbench.csv", "--fault-at", "102", "--time", "seconds",
                      "--ok", "tps")  # fmt: skip
    assert fault["ranges"]["recovery_time"] == [10, 13]


def test_how_a_file_was_read_is_said(brownout: Brownout) -> None:
    document, _ = _field(brownout, "04-sysbench.csv", "--fault-at", "102", "--time", "seconds",
                         "--ok", "tps")  # fmt: skip
    assert (document["format"], document["row_s"]) == ("csv", 5)
    words = " ".join(document["notes"])
    assert "rate per second" in words
    assert "stamped at their end" in words
    table = brownout("impact", str(FIELD / "02-stats_history.csv"), "--fault-at", "1700000061").out
    assert table.startswith("read as locust, rows of 1 s\n")
    assert "the reporter skipped 2 rows" in table


def test_what_noise_hides_is_no_data_and_not_zero(brownout: Brownout, home: Path) -> None:
    _, fault = _field(brownout, "11-noisy.csv", "--fault-at", "300")
    assert fault["tps_drop"] is None
    head, *lines = (FIELD / "11-noisy.csv").read_text().splitlines()
    calm = [line for line in lines if not line.endswith(",0")]
    again = [f"{place},{line.split(',')[1]}" for place, line in enumerate(calm)]
    (home / "noisy.csv").write_text("\n".join([head, *again]) + "\n")
    answer = brownout("impact", "noisy.csv", "--fault-at", "300")
    assert answer.out.count("no data: the noise hides it") >= 5
    assert "no impact" not in answer.out


def test_a_file_that_is_not_there_is_named(brownout: Brownout, home: Path) -> None:
    said = brownout("impact", "b.csv", "--fault-at", "60")
    assert (said.code, "b.csv" in said.err) == (64, True)
