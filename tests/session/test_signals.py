"""One signal is let through; what it began, no other disturbs."""

import os
import signal
from collections.abc import Iterator
from importlib.metadata import version
from types import FrameType

import pytest
from chaoslib.activity import execute_activity
from chaoslib.exceptions import InterruptExecution
from packaging.version import Version

from brownout.base.termination import Terminated
from brownout.session.signals import DeafToSignals


def _as_chaos_toolkit(number: int, frame: FrameType | None) -> None:
    raise InterruptExecution(signal.Signals(number).name)


@pytest.fixture
def before() -> Iterator[None]:
    """SIGTERM as Chaos Toolkit has it, a Ctrl-C as Python has it."""
    had = {number: signal.getsignal(number) for number in DeafToSignals.SIGNALS}
    signal.signal(signal.SIGTERM, _as_chaos_toolkit)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in had.items():
        signal.signal(number, handler)


@pytest.fixture
def deaf(before: None) -> Iterator[DeafToSignals]:
    """Armed in the middle of a test, and no more after it."""
    made = DeafToSignals()
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("first", "raised"),
    [
        (signal.SIGTERM, InterruptExecution),
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGUSR1, Terminated),  # nobody has it here
    ],
)
def test_the_first_signal_ends_what_goes_on_and_no_other_does(
    first: signal.Signals, raised: type[BaseException], deaf: DeafToSignals
) -> None:
    heard: list[signal.Signals] = []
    deaf.arm(heard.append)
    with pytest.raises(raised):
        os.kill(os.getpid(), first)
    assert not deaf.told_again
    for number in DeafToSignals.SIGNALS:
        os.kill(os.getpid(), number)
    assert heard == [first]
    assert deaf.told_again
    deaf.stop()
    assert signal.getsignal(signal.SIGTERM) is _as_chaos_toolkit
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_once_things_are_put_back_the_first_signal_is_one_too_many(deaf: DeafToSignals) -> None:
    deaf.arm(lambda number: pytest.fail("heard"))
    deaf.listen()
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_ctrl_c_that_is_ignored_stays_so_and_is_not_the_first_signal(deaf: DeafToSignals) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    deaf.arm(lambda _: None)
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(InterruptExecution):
        os.kill(os.getpid(), signal.SIGTERM)


def tells_itself_to_end() -> None:
    """Be an action in which SIGTERM comes."""
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_in_an_activity_takes_away_the_pause_after_it(deaf: DeafToSignals) -> None:
    heard: list[signal.Signals] = []
    deaf.arm(heard.append)
    action = {"type": "python", "module": __name__, "func": "tells_itself_to_end"}
    pauses = {"after": 3600}  # it would outlast the time-out
    activity = {"type": "action", "name": "end", "provider": action, "pauses": pauses}
    try:
        ended = execute_activity({}, activity, {}, {}, None)["status"]
    except InterruptExecution:
        ended = "interrupted"
    assert heard == [signal.SIGTERM]
    # Before 1.45.1, chaoslib takes a signal in an activity for the activity's own error.
    old = Version(version("chaostoolkit-lib")) < Version("1.45.1")
    assert ended == ("failed" if old else "interrupted")
