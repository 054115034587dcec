"""Waiting for what nodes say; one that does not answer in time is asked again."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from brownout.base.errors import BrownoutError, ClusterError
from brownout.machine.host import Proof

__all__ = ["await_said", "since"]

_POLL_S = 0.05


def await_said(holds: Callable[[], bool], otherwise: Callable[[], str], timeout_s: float) -> float:
    """Wait until something is so; return how many seconds ago it was not so yet, at most.

    Raises `ClusterError` with what `otherwise` says after `timeout_s`.
    """
    began = not_yet = time.monotonic()
    while True:
        asked = time.monotonic()
        try:
            if holds():
                return time.monotonic() - not_yet
            why = ""
        except BrownoutError as error:
            why = f" ({error})"
        not_yet = asked
        if asked - began > timeout_s:
            raise ClusterError(f"{otherwise()}, within {timeout_s:g} s{why}")
        time.sleep(_POLL_S)


def since(asked: float, evidence: Mapping[str, Any], *, already: bool = False) -> Proof:
    """Return the proof of an effect that came between `asked` and now."""
    now = time.monotonic()
    return Proof(now, now - asked, evidence, already=already)
