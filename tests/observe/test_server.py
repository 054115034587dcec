"""The address of a run: what it answers, and for whom it waits."""

import threading
import urllib.error

import pytest
from tests.prometheus import get

from brownout.base.errors import ConfigurationError
from brownout.observe.page import Shown
from brownout.observe.server import Server, patience
from brownout.show.live.board import Board, Clock, Figures

PAGES = {"/metrics": lambda: "up 1\n", "/board": lambda: "{}"}


def test_it_answers_its_pages_and_nothing_else() -> None:
    server = Server("127.0.0.1:0", PAGES)
    try:
        assert get(f"http://{server.address}/metrics") == "up 1\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(f"http://{server.address}/")
    finally:
        server.close()


def test_a_page_that_fails_is_an_error_and_not_an_empty_answer() -> None:
    def broken() -> str:
        raise RuntimeError("no figures")

    server = Server("127.0.0.1:0", {"/metrics": broken})
    try:
        with pytest.raises(urllib.error.HTTPError, match="500"):
            get(f"http://{server.address}/metrics")
    finally:
        server.close()


def test_an_address_that_is_taken_is_said_with_the_setting() -> None:
    server = Server("127.0.0.1:0", PAGES)
    try:
        with pytest.raises(ConfigurationError, match=r"observe\.listen.*in use"):
            Server(server.address, PAGES)
    finally:
        server.close()


def test_who_asks_regularly_is_waited_for_once_more() -> None:
    server = Server("127.0.0.1:0", PAGES)
    try:
        asked = threading.Event()
        for _ in range(2):
            get(f"http://{server.address}/metrics")

        def wait() -> None:
            server.await_last_look()
            asked.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        get(f"http://{server.address}/metrics")
        assert asked.wait(30)
        waiting.join()
    finally:
        server.close()


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ([], False),
        ([99.0], False),  # once is no habit
        ([90.0, 95.0], True),
        ([10.0, 15.0], False),  # long gone
    ],
)
def test_only_who_is_still_there_is_expected(asked: list[float], waits: bool) -> None:
    assert (patience(asked, 100.0) > 0) is waits


def test_nobody_holds_a_run_up_for_long() -> None:
    assert patience([0.0, 100.0], 101.0) <= 20


def test_a_board_survives_its_journey() -> None:
    figures = Figures(1.0, 0, (1.0, 2.0), (3.0,), 2.0, 0, 1, {"overloaded": 1}, 0.1, None)
    board = Board("t", "method", "d", (1, 2), None, figures, 800.0, {"n1": "start_node"},
                  (Clock("service", 1.0, True),))  # fmt: skip
    assert Shown.read(Shown(board, {"verdict": "pass"}).text()) == Shown(board, {"verdict": "pass"})
    with pytest.raises(ValueError, match="board"):
        Shown.read("{}")
