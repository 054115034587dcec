"""When a call is sent again, and after how long: bounded, and never where that could do it twice.

429, 503 with Retry-After    nothing was done: every call
other 5xx, no answer         repeatable calls only; of the others, those that never arrived
the rest                     no call: the answer would be the same
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception

from brownout.atlas.calls import Call
from brownout.atlas.errors import AtlasError

__all__ = ["Pacing", "may_repeat", "wait_s"]

#: The first pause where the server names none, and the longest.
FIRST_S, LONGEST_S = 1.0, 30.0
Answer = TypeVar("Answer")


def may_repeat(call: Call, error: BaseException) -> bool:
    """Say whether `call` may be sent again after `error`."""
    if not isinstance(error, AtlasError):
        return False
    if error.status == 429 or (error.status == 503 and error.retry_after_s is not None):
        return True
    temporary = error.status is None or error.status >= 500
    return temporary and not error.in_doubt


def wait_s(error: BaseException | None, attempt: int, chance: float) -> float:
    """Return how long to wait after the `attempt`th try, from 1; `chance` is drawn from 0 to 1.

    What the server names is the least. Where it names nothing, its bucket fills at a rate that we
    do not know: pauses double, and each is drawn from its upper half so that clients spread.
    """
    named = error.retry_after_s if isinstance(error, AtlasError) else None
    if named is not None:
        return named + chance * FIRST_S
    longest = min(LONGEST_S, FIRST_S * 2.0 ** min(attempt - 1, 16))
    return longest * (0.5 + chance / 2)


class Pacing:
    """Sends calls until they are answered or `patience_s` seconds would be over."""

    def __init__(self, patience_s: float, pause: Callable[[float], None] = time.sleep) -> None:
        self._patience_s, self._pause = patience_s, pause
        self._empty = False  # the last answer said that the bucket has nothing left

    def note(self, remaining: str | None) -> None:
        """Note what `RateLimit-Remaining` said; it may be missing."""
        self._empty = remaining == "0"

    def repeat(self, call: Call, send: Callable[[], Answer]) -> Answer:
        """Return the answer of `send`, tried again as long as that is safe and there is time."""
        if self._empty:  # one more would be refused for certain
            self._pause(FIRST_S)
            self._empty = False
        retrying = Retrying(
            retry=retry_if_exception(lambda error: may_repeat(call, error)),
            wait=self._wait,
            stop=self._stop,
            sleep=self._pause,
            reraise=True,
        )
        return retrying(send)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return wait_s(error, state.attempt_number, random.random())

    def _stop(self, state: RetryCallState) -> bool:
        """Whether the pause that would follow ends after our patience."""
        spent = max(state.seconds_since_start or 0.0, state.idle_for)
        return spent + state.upcoming_sleep > self._patience_s
