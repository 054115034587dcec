"""Asking an API server again that is away, or where another client wrote meanwhile."""

from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential,
)

from brownout.base.errors import HostError

__all__ = ["persist"]

T = TypeVar("T")

_MOST_WAIT_S = 15.0


def persist(
    ask: Callable[[], T],
    patience_s: float,
    kinds: tuple[type[HostError], ...],
    say: Callable[[str], None] = lambda _: None,
) -> T:
    """Ask again while that raises one of `kinds`, saying why, for `patience_s` seconds."""

    def say_why(state: RetryCallState) -> None:
        if state.outcome is not None:
            say(f"{state.outcome.exception()}; tried again for {patience_s:.0f} s")

    return Retrying(
        retry=retry_if_exception_type(kinds),
        stop=stop_after_delay(patience_s),
        wait=wait_exponential(multiplier=0.25, max=_MOST_WAIT_S),
        before_sleep=say_why,
        reraise=True,
    )(ask)
