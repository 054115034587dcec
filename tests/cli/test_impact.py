"""`brownout impact`: the measures on a series that another tool made."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

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
        ("a,b\n1,2\n", (), "no column `t`"),
        ("t,ok\n0,x\n0.1,y\n", (), "a.csv:2: ok: found 'x'"),
        ("t,ok\n" + "".join(f"{n},9\n" for n in range(90)), ("--fault-at", "noon"), "'noon'"),
        ("t,ok\n0,1\n5,1\n6,1\n", (), "evenly"),
        ("t,ok\n" + "".join(f"{n},9\n" for n in range(9)), (), "fault_at"),
    ],
    ids=["no column", "no numbers", "no time", "uneven", "fault outside"],
)
def test_a_series_that_will_not_do_says_why(
    text: str, options: tuple[str, ...], words: str, brownout: Brownout, home: Path
) -> None:
    (home / "a.csv").write_text(text)
    said = brownout("impact", "a.csv", *(options or ("--fault-at", "60")))
    assert said.code == 64
    assert words in said.err


def test_a_file_that_is_not_there_is_named(brownout: Brownout, home: Path) -> None:
    said = brownout("impact", "b.csv", "--fault-at", "60")
    assert (said.code, "b.csv" in said.err) == (64, True)
