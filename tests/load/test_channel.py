"""The pipe to a generator process, with small processes that behave badly on purpose."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brownout.base.errors import GeneratorError
from brownout.load.channel import Channel, Event

#: Answers each command with itself as an event, and obeys `exit`.
ECHO = """
import json, sys
for line in sys.stdin:
    command = json.loads(line)
    if command["cmd"] == "exit":
        break
    print(json.dumps({"event": command["cmd"], **command}), flush=True)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Channel]]:
    """Start a channel to a process that runs Python `code`; each is gone after the test."""
    channels = []

    def start(code: str, on_event: Callable[[Event, float], bool] | None = None) -> Channel:
        take = on_event or (lambda event, received: False)
        channel = Channel([sys.executable, "-c", code], tmp_path / "generator.log", take)
        channels.append(channel)
        return channel

    yield start
    for channel in channels:
        channel.close({"cmd": "exit"})


def test_a_command_is_answered(started: Callable[..., Channel]) -> None:
    channel = started(ECHO)
    channel.send({"cmd": "load", "n": 3})
    assert channel.await_event(("loaded", "load"), 10)["n"] == 3
    assert channel.alive
    assert channel.close({"cmd": "exit"}) == 0
    assert not channel.alive


def test_events_of_no_interest_are_left_out(started: Callable[..., Channel]) -> None:
    channel = started(ECHO)
    for kind in ("noise", "noise", "wanted"):
        channel.send({"cmd": kind})
    assert channel.await_event(("wanted",), 10)["event"] == "wanted"


def test_live_events_go_to_their_own_place(started: Callable[..., Channel]) -> None:
    seen, came = [], threading.Event()

    def take(event: Event, received: float) -> bool:
        if event["event"] != "live":
            return False
        seen.append(event["t"])
        came.set()
        return True

    channel = started(ECHO, take)
    channel.send({"cmd": "live", "t": 0.5})
    channel.send({"cmd": "stopped"})
    channel.await_event(("stopped",), 10)
    assert came.wait(10)
    assert seen == [0.5]


def test_an_error_of_the_generator_is_raised_with_its_hint(
    started: Callable[..., Channel],
) -> None:
    channel = started(ECHO)
    channel.send({"cmd": "error", "where": "open", "message": "no primary", "hint": "start one"})
    with pytest.raises(GeneratorError) as caught:
        channel.await_event(("opened",), 10)
    assert str(caught.value) == "load generator, open: no primary; start one"


def test_a_process_that_dies_is_reported_with_its_last_words(
    started: Callable[..., Channel],
) -> None:
    channel = started("import sys; sys.exit('out of luck')")
    with pytest.raises(GeneratorError, match=r"ended \(exit code 1\): out of luck"):
        channel.await_event(("ready",), 10)
    with pytest.raises(GeneratorError, match=r"generator\.log"):
        channel.send({"cmd": "stop"})
    assert not channel.alive


def test_a_silent_process_is_given_up(started: Callable[..., Channel]) -> None:
    channel = started(ECHO)
    with pytest.raises(GeneratorError, match=r"did not say `ready` for 0\.01 s"):
        channel.await_event(("ready",), 0.01)


def test_a_line_that_is_no_event_reaches_who_waits(started: Callable[..., Channel]) -> None:
    channel = started("import sys; print('hello', flush=True); sys.stdin.read()")
    with pytest.raises(GeneratorError, match="could not be used"):
        channel.await_event(("ready",), 10)


def test_a_callback_that_fails_reaches_who_waits(started: Callable[..., Channel]) -> None:
    def take(event: Event, received: float) -> bool:
        raise ValueError("buckets are missing")

    channel = started(ECHO, take)
    channel.send({"cmd": "live"})
    with pytest.raises(GeneratorError, match="buckets are missing"):
        channel.await_event(("ready",), 10)


@pytest.mark.parametrize("deaf_to", ["SIGUSR1", "SIGTERM"])
def test_a_process_that_does_not_listen_is_ended_all_the_same(
    started: Callable[..., Channel], monkeypatch: pytest.MonkeyPatch, deaf_to: str
) -> None:
    monkeypatch.setattr("brownout.load.channel._GRACE_S", 0.3)
    channel = started(
        f"import signal; signal.signal(signal.{deaf_to}, signal.SIG_IGN)\n"
        'print(\'{"event": "ready"}\', flush=True)\n'
        "while True: signal.pause()"
    )
    channel.await_event(("ready",), 10)
    assert channel.close({"cmd": "exit"}) == (-15 if deaf_to == "SIGUSR1" else -9)
    assert channel.close({"cmd": "exit"}) == channel.close({"cmd": "exit"})


def test_a_binary_that_cannot_start_is_named(tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match="cannot start"):
        Channel([str(tmp_path / "none")], tmp_path / "log", lambda event, received: False)
