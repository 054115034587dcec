"""One variable at several values: read, tabled and drawn from impacts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.impacts import made

from brownout.measure.impact import Impact
from brownout.measure.measures import label
from brownout.runs.repeats.draw import draws
from brownout.runs.repeats.sweep import COLUMNS, Point, render, settings_of, svg
from brownout.runs.repeats.sweep import point as point_of
from brownout.runs.run_set import FinishedRun, Runs
from brownout.runs.share import excluded_words


def impact(time: float | None, served: float | None, p99: float = 2000.0) -> Impact:
    moved = None if time is None else [time - 1.0, time]
    fault = {"effective": 20.0,
        "rebalance_time": moved, "redundancy_time": moved, "throughput_while_moving": served,
        "tps_drop": 0.1, "lost_operations": 12, "latency": {"during": {"p99_us": p99}},
    }  # fmt: skip
    return made({"faults": [fault]})


def point(value: str, verdicts: Sequence[str], impacts: Sequence[Impact]) -> Point:
    runs = Runs(FinishedRun(Path(f"run-{n}"), each) for n, each in enumerate(impacts))
    return point_of(value, verdicts, runs)


SLOW = point("1", ["pass"], [impact(120.0, 0.99)])
FAST = point("16", ["pass", "fail"], [impact(9.0, 0.7, 9000.0), impact(11.0, 0.8, 8000.0)])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("migrate_threads=1,2,4", ("migrate_threads", ["1", "2", "4"])),
        (" target = n1 , n2 ", ("target", ["n1", "n2"])),
        ("migrate_threads=1", None),
        ("migrate_threads", None),
        ("=1,2", None),
    ],
)
def test_a_variable_and_at_least_two_values_are_wanted(
    text: str, found: tuple[str, list[str]] | None
) -> None:
    assert settings_of(text) == found


def test_a_point_is_the_median_of_its_runs() -> None:
    assert FAST.measures["rebalance_time"] == 10.0
    assert FAST.measures["latency.during.p99_us"] == 8500.0


def test_of_several_faults_the_worst_counts_whichever_way_is_worse() -> None:
    one, other = impact(9.0, 0.7), impact(11.0, 0.8)
    both = replace(one, faults=(*one.faults, *other.faults))
    found = point("4", ["pass"], [both]).measures
    assert (found["rebalance_time"], found["throughput_while_moving"]) == (11.0, 0.7)


def test_a_run_without_a_measure_leaves_the_point_without_it() -> None:
    found = point("4", ["pass", "pass"], [impact(9.0, 0.7), impact(None, 0.8)])
    assert found.measures["rebalance_time"] is None
    assert found.measures["throughput_while_moving"] == pytest.approx(0.75)


def test_where_a_database_fails_over_is_told_and_what_no_run_has_is_left_out() -> None:
    served = {"effective": 20.0, "availability": 0.38, "blackout": 13.7, "promoted_time": None}
    replaced = {**served, "availability": 0.7, "blackout": 1.9, "promoted_time": [1.2, 1.4]}
    points = [
        point(value, ["pass"], [made({"faults": [fault]})])
        for value, fault in (("1000", served), ("5000", replaced))
    ]
    heads, slow, slower = render("latency_ms", points).splitlines()
    assert label("promoted_time") in heads
    assert label("rebalance_time") not in heads
    assert ("–" in slow.split(), "1.4" in slower.split()) == (True, True)


def test_what_never_came_is_told_from_what_is_not_known() -> None:
    missed = {"name": "nothing_to_move", "first_yes": None}
    fault = {"effective": 20.0, "rebalance_time": None, "redundancy_time": None, "tps_drop": 0.1,
             "milestones": [missed, {**missed, "name": "redundant"}]}  # fmt: skip
    points = [SLOW, point("4", ["fail"], [made({"faults": [fault]})])]
    row = render("migrate_threads", points).splitlines()[2].split()
    assert (row[2], row[3]) == ("never", "–")
    assert svg("scale-out", "migrate_threads", points) is None


def test_the_table_has_a_row_a_value() -> None:
    head, *rows, note = render("migrate_threads", [SLOW, FAST]).splitlines()
    assert note == f"note: {excluded_words(2)}"
    assert head.startswith("migrate_threads")
    shown = [name for name in COLUMNS if SLOW.measures[name] is not None]
    assert all(name in head for name in map(label, shown))
    assert [row.split()[0] for row in rows] == ["1", "16"]
    assert "10 s" in rows[1]
    assert "1 pass, 1 fail" in rows[1]


def test_the_curve_shows_each_value_further_right_the_longer_it_took() -> None:
    drawn = svg("scale-out", "migrate_threads", [SLOW, FAST])
    assert drawn is not None
    marks = ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}path")
    (slow_x, slow_y), (fast_x, fast_y) = (
        map(float, mark.attrib["d"].removeprefix("M").partition("m")[0].split()) for mark in marks
    )
    assert fast_x < slow_x
    assert fast_y < slow_y  # users waited longer, which is higher up
    assert "migrate_threads 16" in drawn


def test_a_value_whose_run_failed_is_a_cross_on_the_curve() -> None:
    assert forms_of(svg("t", "migrate_threads", [SLOW, FAST])) == ["pass", "fail"]


def test_a_stand_in_is_named_wherever_its_figures_are() -> None:
    stood_in = [
        point(value, ["pass"], [replace(impact(time, 0.9), stand_in=True)])
        for value, time in (("1", 9.0), ("4", 3.0))
    ]
    assert "STAND-IN" in render("migrate_threads", stood_in)
    assert "stand-in" in str(svg("scale-out", "migrate_threads", stood_in))
    assert "STAND-IN" not in render("migrate_threads", [SLOW, FAST])


def test_there_is_no_curve_of_one_point() -> None:
    none: dict[str, float | None] = dict.fromkeys(COLUMNS)
    assert svg("scale-out", "x", [SLOW, Point("2", ("not run",), none)]) is None


def slowed(value: str, served: float | None, outage: float, promoted: float | None) -> Point:
    fault = {"effective": 20.0, "availability": served, "blackout": outage,
             "promoted_time": None if promoted is None else [promoted, promoted]}  # fmt: skip
    return point(
        value, ["pass" if served and served > 0.9 else "fail"], [made({"faults": [fault]})]
    )


def columns_of(picture: str | None, values: Sequence[str]) -> dict[str, list[str]]:
    """Return what stands below each value of a picture."""
    assert picture is not None
    columns: dict[str, list[str]] = {}
    for text in sorted(
        ElementTree.fromstring(picture).iterfind(".//{*}text"), key=lambda t: float(t.attrib["y"])
    ):
        columns.setdefault(text.attrib["x"], []).append(text.text or "")
    return {of[0]: of[1:3] for of in columns.values() if of[0] in values}


def forms_of(picture: str | None) -> list[str | None]:
    """Return the form of each mark of a picture, from the left."""
    marks = ElementTree.fromstring(picture or "").iterfind(".//{*}path")
    return [mark.get("class") for mark in marks]


def test_where_no_data_was_moved_the_picture_shows_what_was_served_and_who_led() -> None:
    points = [
        slowed("50", 1.0, 0.0, 0.0),
        slowed("1000", 0.38, 13.7, 0.0),
        slowed("5000", 0.7, 1.9, 1.4),
    ]
    picture = svg("disk-slow: latency_ms", "latency_ms", points)
    assert columns_of(picture, ["50", "1000", "5000"]) == {
        "50": ["stayed", "0 s"], "1000": ["stayed", "13.7 s"], "5000": ["1.4 s", "1.9 s"]
    }  # fmt: skip
    assert forms_of(picture) == ["pass", "fail", "fail"]


def test_a_value_without_a_measure_keeps_its_place_in_the_picture() -> None:
    none: dict[str, float | None] = dict.fromkeys(COLUMNS)
    points = [
        slowed("50", 1.0, 0.0, 0.0),
        Point("200", ("not run",), none),
        slowed("1000", 0.4, 13.0, 0.0),
    ]
    picture = svg("disk-slow: latency_ms", "latency_ms", points)
    assert columns_of(picture, ["200"]) == {"200": ["–", "–"]}
    assert len(forms_of(picture)) == 2
    assert "<polyline" not in str(picture)


def test_a_curve_of_time_against_response_time_names_what_was_not_measured() -> None:
    none: dict[str, float | None] = dict.fromkeys(COLUMNS)
    assert "not measured: x 4" in str(svg("t", "x", [SLOW, Point("4", ("not run",), none), FAST]))
    assert "not measured" not in str(svg("t", "x", [SLOW, FAST]))


@pytest.mark.parametrize("target", ["spare", "rack"])
def test_a_target_that_is_no_member_is_not_drawn(target: str) -> None:
    experiment = {"configuration": {"target": {"type": "env", "default": target}, "seed": 0}}
    (draw,) = draws(experiment, 1, 7, 0.0, ())
    assert not [text for text in draw.variables if text.startswith("target")]
