"""The picture of a run at any moment, held against what the run came to in the end."""

import json
from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run
from tests.show.live.conftest import LIMITS, SCRIPT
from tests.show.live.replay import Replay

from brownout.observe.compose import RunFacts, compose
from brownout.observe.follow import Follower
from brownout.run.events import Event
from brownout.show.live.board import Board, Countdown
from brownout.show.live.course import marks_of, phase_of

MOMENTS = [0.4, 3.0, 20.0, 25.3, 25.5, 26.0, 27.1, 28.3, 29.5, 31.0, 33.5, 34.3, 40.0, 47.9]


def _board(replay: Replay, t: float) -> Board:
    return Follower(replay.until(t)).board()


def test_before_anything_is_there_it_is_empty_and_says_so() -> None:
    board = compose(RunFacts())
    assert (board.phase, board.figures, board.clocks, board.outlook) == ("opening", None, (), None)


def test_the_baseline_is_counted_down(replay: Replay) -> None:
    board = _board(replay, 12.0)
    assert board.phase == "waiting for a stable baseline"
    assert board.countdown == Countdown(12.0, SCRIPT.settings.warmup_max_s)
    assert board.figures is not None
    assert board.figures.tps == pytest.approx(SCRIPT.rate, rel=0.02)
    assert (board.broken, board.clocks) == ({}, ())


def test_while_a_node_is_down_it_is_named_and_the_clocks_run(replay: Replay) -> None:
    board = _board(replay, 27.2)
    assert board.broken == {"n1": "start_node"}
    assert [clock.name for clock in board.clocks] == ["service", "rejoined", "redundant"]
    assert not any(clock.stopped for clock in board.clocks)
    assert board.figures is not None
    assert board.figures.tps == 0
    assert board.figures.ok_per_s[-1] == 0
    assert board.figures.pending > 0
    later = _board(replay, 28.2)
    assert later.clocks[2].seconds - board.clocks[2].seconds == pytest.approx(1.0, abs=0.11)


def test_in_the_end_the_clocks_say_what_the_result_says(replay: Replay, finished: Path) -> None:
    (fault,) = json.loads((finished / "impact.json").read_text())["faults"]
    clocks = {clock.name: clock for clock in _board(replay, 47.9).clocks}
    assert all(clock.stopped for clock in clocks.values())
    assert clocks["service"].seconds == pytest.approx(fault["recovery_time"], abs=0.001)
    assert clocks["rejoined"].seconds == pytest.approx(fault["rejoin_time"][1], abs=0.001)
    assert clocks["redundant"].seconds == pytest.approx(fault["redundancy_time"][1], abs=0.001)
    assert clocks["redundant"].limit_s == 60


def test_service_is_not_called_back_before_it_has_held(replay: Replay) -> None:
    held_s = SCRIPT.settings.hold_s
    back_at = 25.352 + 2.9
    before, after = _board(replay, back_at + held_s - 0.4), _board(replay, back_at + held_s + 0.4)
    assert not before.clocks[0].stopped
    assert before.clocks[0].note.startswith("good for 4 of 5 s")
    assert after.clocks[0].stopped


@pytest.mark.parametrize("t", MOMENTS)
def test_a_run_that_passes_is_never_called_failed_on_its_way(t: float, replay: Replay) -> None:
    outlook = _board(replay, t).outlook
    assert outlook is None or outlook.broken == ()


def test_a_limit_that_is_broken_is_said_as_soon_as_that_is_certain(tmp_path: Path) -> None:
    tight = ({"measure": "blackout", "limit": 1.5, "scope": "total"},)
    source = build_run(tmp_path, RunScript(duration_s=48, limits=tight))
    replay = Replay(source, tmp_path / "live" / source.name)
    early, late = _board(replay, 26.4).outlook, _board(replay, 27.6).outlook
    assert early is not None
    assert early.broken == ()
    assert late is not None
    assert late.broken[0].startswith("blackout")
    assert "limit 1.5 s" in late.broken[0]
    end = _board(replay, 47.0).outlook
    assert end is not None
    assert len(end.broken) == 1


def test_limits_on_parts_of_the_load_are_left_to_the_verdict(replay: Replay) -> None:
    assert LIMITS[-1]["scope"] == "write"
    outlook = _board(replay, 30.0).outlook
    assert outlook is not None
    assert outlook.holding == 4  # not availability, which can rise again


def test_what_happened_is_marked_where_it_happened(replay: Replay) -> None:
    marks = [(mark.kind, mark.words, round(mark.t, 1)) for mark in _board(replay, 40).marks]
    assert ("break", "kill node n1", 25.4) in marks
    assert ("mend", "start node n1", 29.1) in marks or ("mend", "start node n1", 29.4) in marks
    assert ("milestone", "redundant", 34.2) in marks


def test_causes_and_response_times_come_from_the_files(replay: Replay) -> None:
    figures = _board(replay, 30.0).figures
    assert figures is not None
    assert figures.errors == sum(figures.causes.values()) > 0
    assert figures.p50_ms == pytest.approx(2.0, rel=0.2)
    assert (figures.p99_ms or 0.0) > (figures.p50_ms or 0.0)


def test_half_a_file_is_as_good_as_none(replay: Replay) -> None:
    path = replay.until(30.0)
    follower = Follower(path)
    whole = follower.board()
    for name in ("series.csv", "run.json", "events.ndjson", "errors.csv"):
        file = path / name
        file.write_text(file.read_text()[:-7])
    board = follower.board()
    assert board.title == whole.title
    assert board.figures is not None
    (path / "series.csv").write_text("t,str")
    assert Follower(path).board().figures is None


def test_the_phase_follows_the_steps_of_the_method() -> None:
    begun = Event(1, "phase", "method_started", requested=20.0)
    step = Event(2, "note", "step", requested=20.1, fields={"activity": "kill-the-node"})
    kill = Event(3, "break", "kill_node", "n1", requested=20.2)
    ended = Event(4, "phase", "method_ended", requested=40.0)
    assert phase_of([begun]) == "method"
    assert phase_of([begun, step]) == "method: kill-the-node"
    assert phase_of([begun, step, kill]) == "method: kill-the-node: kill_node n1"
    assert phase_of([begun, step, ended]).startswith("waiting for redundancy")


def test_a_milestone_that_was_revoked_is_marked_where_it_was() -> None:
    reached = Event(2, "milestone", "rejoined", requested=30.0,
                    fields={"last_no": 29.0, "first_yes": 29.5})  # fmt: skip
    gone = Event(3, "milestone", "rejoined", requested=35.0,
                 fields={"last_no": 34.9, "first_yes": None, "revoked": True})  # fmt: skip
    assert [(m.t, m.words) for m in marks_of([reached, gone])] == [
        (29.5, "rejoined"), (35.0, "rejoined no longer")
    ]  # fmt: skip
