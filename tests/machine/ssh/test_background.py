"""A caller that is interrupted does not leave its script behind at work."""

import asyncio
import os
import signal
import threading
import time

import pytest

from brownout.machine.ssh import background


async def script(ended: list[str], takes_s: float) -> None:
    await asyncio.sleep(takes_s)
    ended.append("ended")


def interrupt(*after_s: float) -> None:
    for each in after_s:
        threading.Timer(each, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_an_interrupt_takes_effect_once_the_script_has_ended() -> None:
    ended: list[str] = []
    interrupt(0.1)
    with pytest.raises(KeyboardInterrupt):
        background.call(script(ended, 0.6))
    assert ended == ["ended"]


def test_a_second_interrupt_waits_for_nothing() -> None:
    ended: list[str] = []
    interrupt(0.1, 0.4)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        background.call(script(ended, 9.0))
    assert time.monotonic() - began < 8
    assert ended == []


def test_what_goes_wrong_in_the_script_is_raised_at_once() -> None:
    async def failing() -> None:
        raise ValueError("of the script")

    with pytest.raises(ValueError, match="of the script"):
        background.call(failing())
