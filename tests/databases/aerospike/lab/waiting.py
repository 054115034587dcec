"""Waiting for a state of the lab."""

import time
from collections.abc import Callable

__all__ = ["await_state"]

PATIENCE_S = 60.0


def await_state(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)
