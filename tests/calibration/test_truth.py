"""What follows from the scripted server's own account."""

import json
from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.calibration.truth import Truth, read_truth

PER_TICK = 20  # 1,000 a second


def written(path: Path, **changes: Any) -> Path:
    """Write a truth: 10 s at 1,000 a second on two lanes, of which 1 s from 5 s on served half."""
    served = [PER_TICK // 2] * 250 + [PER_TICK // 4] * 50 + [PER_TICK // 2] * 200
    lanes = [{"received": [PER_TICK // 2] * 500, "served": served} for _ in range(2)]
    effects = [
        {"at": 5.0, "for": 0.5, "effect": "error", "seen": 500, "hit": 250},
        {"at": 5.5, "for": 0.5, "effect": "error", "seen": 500, "hit": 250},
        {"at": 7.0, "for": 1.0, "effect": "freeze", "seen": 0, "hit": 0},
    ]
    made = {"effects": effects, "tick_s": 0.02, "timeline": lanes, "lost": [], "late": []}
    path.write_text(json.dumps({**made, **changes}))
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Truth:
    return read_truth(written(tmp_path / "truth.json"))


def test_the_deepest_mean_of_a_second_is_counted_from_ticks(truth: Truth) -> None:
    assert truth.level(0.0, 5.0) == 1000.0
    assert truth.deepest(5.0, 8.0, 1000.0) == pytest.approx(0.5)
    assert truth.deepest(5.0, 5.5, 1000.0) == pytest.approx(0.25)  # half a second of it
    assert truth.deepest(8.0, 10.0, 1000.0) == 0.0


def test_effects_that_touch_are_one_dip(truth: Truth) -> None:
    assert truth.dips(range(3)) == [(5.0, 6.0), (7.0, 8.0)]


def test_a_freeze_is_over_when_all_that_it_held_back_is_answered(tmp_path: Path) -> None:
    freeze = {"at": 7.0, "for": 1.0, "effect": "freeze", "seen": 0, "hit": 0}
    truth = read_truth(written(tmp_path / "truth.json", effects=[{**freeze, "ended_t": 8.004}]))
    assert truth.dips([0]) == [(7.0, 8.004)]


def test_a_share_is_what_was_hit_of_what_was_seen(truth: Truth) -> None:
    assert [loss.share for loss in truth.losses(range(3))] == [0.5, 0.5, 1.0]
    assert truth.hits(range(2)) == 500


def test_a_lanes_share_is_what_it_received(truth: Truth) -> None:
    assert truth.share_of_lane(0, 5.0) == pytest.approx(0.5)


def test_a_lost_write_counts_unless_a_later_one_covers_it(tmp_path: Path) -> None:
    lost = [
        {"key": "a", "seq": 3, "replaced": 0, "covered": False},
        {"key": "a", "seq": 4, "replaced": 0, "covered": False},
        {"key": "b", "seq": 2, "replaced": 0, "covered": True},
    ]
    late = [
        {"key": "c", "seq": 3, "replaced": 5, "covered": False},
        {"key": "d", "seq": 3, "replaced": 2, "covered": False},
        {"key": "e", "seq": 3, "replaced": 5, "covered": True},
    ]
    truth = read_truth(written(tmp_path / "truth.json", lost=lost, late=late))
    assert truth.lost_writes() == (2, 1)
    assert truth.late_keys() == 1


def test_what_is_no_truth_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text("{}")
    with pytest.raises(RunDirectoryError, match=r"truth\.json"):
        read_truth(path)
