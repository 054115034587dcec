"""What is on a real terminal during a run and after it, and what a log without one gets."""

import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.show.live.terminal import HIDE_CURSOR, SHOW_CURSOR, run_in_terminal

from brownout.show.live.board import Board
from brownout.show.live.screen import Plain

ROOT = Path(__file__).parents[3]
PROGRAM = "tests.show.live.screen_program"
FRAME = "╭"
#: What the program shows in its two phases.
PHASES = ("first phase", "75 %")


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("error", 1), ("signal", 7)])
def test_whatever_ends_the_program_leaves_a_clean_terminal(how: str, code: int) -> None:
    ended = run_in_terminal(PROGRAM, how, "held", go_on_at=PHASES)
    assert ended.code == code
    assert FRAME in ended.written
    assert "first phase" in ended.written
    assert "75 %" in ended.written
    assert ended.written.rindex(SHOW_CURSOR) > ended.written.rindex(HIDE_CURSOR)
    left = "\n".join(ended.screen)
    assert FRAME not in left
    assert "phase" not in left


@pytest.mark.parametrize("width", [60, 100])
def test_a_ctrl_c_leaves_nothing_of_the_panel(width: int) -> None:
    ended = run_in_terminal(PROGRAM, "end", "held", interrupt_at="first phase", width=width)
    assert ended.code != 0
    assert "^C" in ended.written
    left = "\n".join(ended.screen)
    assert "KeyboardInterrupt" in left
    assert FRAME not in left
    assert ended.written.rindex(SHOW_CURSOR) > ended.written.rindex(HIDE_CURSOR)


def test_lines_of_the_log_and_prints_stay_whole_above_the_panel() -> None:
    ended = run_in_terminal(PROGRAM, "end", "held", go_on_at=PHASES)
    lines = [line for line in ended.screen if line]
    assert lines[0].endswith("INFO] a line of the log")
    assert lines[1] == "a line that was printed"
    assert lines[2].endswith("WARNING] another line of the log")
    assert lines[3] == "after it"
    assert len(lines) == 4


@pytest.mark.parametrize(("wish", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=str)
def test_the_panel_has_colours_only_if_they_are_wanted(
    wish: dict[str, str], coloured: bool
) -> None:
    ended = run_in_terminal(PROGRAM, "end", "held", go_on_at=PHASES, env=wish)
    frames = ended.written[ended.written.index(FRAME) : ended.written.rindex("75 %")]
    assert bool(re.search(r"\x1b\[[0-9;]*m", frames)) is coloured


def test_an_error_of_the_program_can_be_read() -> None:
    screen = run_in_terminal(PROGRAM, "error", "held", go_on_at=PHASES).screen
    assert any("RuntimeError: an error in the program" in line for line in screen)


def test_a_small_terminal_gets_a_line() -> None:
    ended = run_in_terminal(
        PROGRAM, "end", "held", go_on_at=("first phase", "second phase"), width=40, height=8
    )
    assert FRAME not in ended.written
    assert "first phase" in ended.written
    assert "phase" not in "\n".join(ended.screen)


@pytest.mark.parametrize("env", [{"CI": "true"}, {"TERM": "dumb"}], ids=str)
def test_ci_and_dumb_terminals_get_plain_lines(env: dict[str, str]) -> None:
    ended = run_in_terminal(PROGRAM, "end", env=env)
    assert HIDE_CURSOR not in ended.written
    assert any("brownout: first phase" in line for line in ended.screen)
    assert any("brownout: second phase" in line for line in ended.screen)


def test_without_a_terminal_each_phase_is_a_plain_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", PROGRAM, "end"], cwd=ROOT, capture_output=True, text=True
    )
    told = [line.partition("brownout: ")[2] for line in done.stderr.splitlines()]
    assert "\x1b[2K" not in done.stderr
    assert [line for line in told if line] == ["starting", "first phase", "second phase"]
    assert done.stdout.splitlines() == ["a line that was printed", "after it"]


def plain_lines(
    caplog: pytest.LogCaptureFixture,
    draw: Callable[[], Board],
    enough: threading.Event,
    again_s: float,
) -> list[str]:
    """Return the lines until there were enough boards."""
    logger = logging.getLogger("chaostoolkit")
    logger.addHandler(caplog.handler)
    plain = Plain(draw, every_s=0.02, again_s=again_s)
    try:
        with caplog.at_level(logging.INFO, "chaostoolkit"):
            plain.start()
            assert enough.wait(30)
            plain.stop()
    finally:
        logger.removeHandler(caplog.handler)
    return [record.getMessage() for record in caplog.records]


def test_plain_lines_come_now_and_then_and_only_if_they_say_something_new(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked, enough = [], threading.Event()

    def draw() -> Board:
        asked.append(1)
        if len(asked) == 6:
            enough.set()
        return Board(phase="waiting", detail="a" if len(asked) < 4 else "b")

    lines = plain_lines(caplog, draw, enough, again_s=60)
    assert list(dict.fromkeys(lines)) == ["brownout: waiting: a", "brownout: waiting: b"]


def test_a_plain_line_that_says_nothing_new_is_repeated_after_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked, enough = [], threading.Event()

    def draw() -> Board:
        asked.append(1)
        if len(asked) == 12:
            enough.set()
        return Board(phase="waiting")

    lines = plain_lines(caplog, draw, enough, again_s=0.0)
    assert set(lines) == {"brownout: waiting"}
    assert len(lines) >= 12
