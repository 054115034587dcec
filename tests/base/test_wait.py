"""Waiting for a state: what is returned, when it ends, and what ends it early."""

import signal
import threading
import time

import pytest

from brownout.base.wait import wait_until


class Clockwork:
    """A clock that only sleeping moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 100.0, list[float]()
        monkeypatch.setattr("brownout.base.wait.time.monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clockwork:
    return Clockwork(monkeypatch)


def test_the_first_answer_that_holds_is_returned(clock: Clockwork) -> None:
    answers = iter([0, "", "so", "never asked"])
    assert wait_until(lambda: next(answers), 10, 1, pause=clock.sleep) == "so"
    assert clock.slept == [1, 1]


def test_the_last_answer_is_returned_where_none_held_in_time(clock: Clockwork) -> None:
    asked: list[float] = []

    def look() -> str:
        asked.append(clock.now - 100)
        return ""

    assert wait_until(look, 2.5, 1, pause=clock.sleep) == ""
    assert asked == [0, 1, 2, 2.5]


def test_whoever_waits_says_which_answer_will_do(clock: Clockwork) -> None:
    answers = iter([5, 3, 0, 1])
    found = wait_until(lambda: next(answers), 10, 1, so=lambda n: n < 3, pause=clock.sleep)
    assert (found, clock.slept) == (0, [1, 1])


def test_no_time_at_all_is_one_look(clock: Clockwork) -> None:
    asked: list[None] = []
    assert wait_until(lambda: asked.append(None), 0, 1, pause=clock.sleep) is None
    assert (len(asked), clock.slept) == (1, [])


def test_a_look_that_fails_is_repeated_and_the_last_failure_is_raised(clock: Clockwork) -> None:
    tries: list[int] = []

    def look() -> bool:
        tries.append(1)
        if len(tries) == 3:
            return True
        raise OSError(f"look {len(tries)}")

    assert wait_until(look, 9, 1, despite=OSError, pause=clock.sleep)
    with pytest.raises(OSError, match="look 6"):
        wait_until(look, 2, 1, despite=(OSError, ValueError), pause=clock.sleep)
    with pytest.raises(OSError, match="look 7"):
        wait_until(look, 2, 1, despite=ValueError, pause=clock.sleep)


def test_a_wait_that_is_stopped_looks_once_more(clock: Clockwork) -> None:
    asked: list[float] = []
    wait_until(
        lambda: asked.append(clock.now),
        60,
        1,
        stopped=lambda: clock.now >= 102,
        pause=clock.sleep,
    )
    assert asked == [100, 101, 102]


def test_a_signal_ends_a_wait_at_once() -> None:
    main = threading.main_thread().ident
    assert main is not None
    interrupt = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
    began = time.monotonic()
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        wait_until(lambda: False, every_s=600.0)
    interrupt.join()
    assert time.monotonic() - began < 300
