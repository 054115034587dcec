"""The panel fits its terminal and says everything without colour; the line says it in short."""

from io import BytesIO, TextIOWrapper

import pytest
from rich.console import Console
from tests.show.live.replay import Replay

from brownout.observe.follow import Follower
from brownout.show.live.board import Board
from brownout.show.live.panel import BoardView
from brownout.show.live.plain import line


def _drawn(board: Board, width: int = 100, height: int = 30, encoding: str = "utf-8") -> list[str]:
    paper = BytesIO()
    file = TextIOWrapper(paper, encoding=encoding, errors="replace")
    Console(file=file, width=width, height=height).print(BoardView(board))
    file.flush()
    return paper.getvalue().decode(encoding).rstrip("\n").split("\n")


@pytest.fixture
def broken(replay: Replay) -> Board:
    """The board while the node is down."""
    return Follower(replay.until(28.0)).board()


@pytest.mark.parametrize("width", [50, 60, 80, 133, 250])
def test_it_fits_the_width(width: int, broken: Board) -> None:
    drawn = _drawn(broken, width)
    assert all(len(row) <= width for row in drawn)
    assert any("BROKEN" in row for row in drawn)
    assert any("redundant" in row for row in drawn)


def test_it_says_without_colour_what_matters(broken: Board) -> None:
    text = "\n".join(_drawn(broken))
    for words in (
        "0 ok/s",
        "% of 400/s",
        "client-timeout-total",
        "n1 (waits for start_node)",
        "… service",
        "limit 10 s",
        "no limit is broken, 4 can",
        "x 25.4 s kill node n1",
    ):
        assert words in text


def test_a_sign_stands_under_the_second_in_which_something_happened(broken: Board) -> None:
    rows = _drawn(broken)
    index = next(i for i, row in enumerate(rows) if "throughput" in row)
    curve, axis = rows[index + 1], rows[index + 2]
    place = axis.index("x")
    assert "_" not in curve[:place]
    assert curve[place + 1] == "_"


@pytest.mark.parametrize(("width", "height"), [(49, 40), (100, 13), (20, 5)])
def test_where_there_is_no_room_it_is_one_line(width: int, height: int, broken: Board) -> None:
    drawn = _drawn(broken, width, height)
    assert len(drawn) == 1
    assert len(drawn[0]) <= width


def test_a_terminal_without_blocks_gets_plain_characters(broken: Board) -> None:
    text = "\n".join(_drawn(broken, encoding="ascii"))
    assert "█" not in text
    assert "%%%%" in text


def test_progress_and_time_left_are_shown() -> None:
    loading = Board(title="t", phase="loading", detail="keys 5 of 10", progress=(5, 10))
    assert "50 %" in "\n".join(_drawn(loading))
    assert line(loading) == "loading: keys 5 of 10 50 %"


def test_the_line_says_the_same_in_short(broken: Board) -> None:
    words = line(broken)
    assert words.startswith("method")
    for part in ("t 28 s", "0 ok/s", "errors", "redundant 2.6 s…", "BROKEN: n1"):
        assert part in words
