"""One event loop in a thread of its own, for everything that is asynchronous underneath.

Callers are ordinary threads that wait for an answer. One that is interrupted waits for it all the
same, since a script on another machine does not end with us, and an undo must not overtake what it
undoes; but not for long, and a second signal ends the wait.
"""

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

__all__ = ["call", "stop"]

T = TypeVar("T")

#: How long a caller that is interrupted waits for its answer: most scripts take milliseconds.
_PATIENCE_S = 10.0
_lock = threading.Lock()
_running: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None


def call(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on the loop and return its result; its exception is raised here."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:
        try:
            wait([future], _PATIENCE_S)  # returns at once if it has ended
        finally:
            future.cancel()  # no effect if it has ended
        raise


def stop() -> None:
    """End the loop and its thread; the next call starts another."""
    global _running
    with _lock:
        if _running is None:
            return
        loop, thread = _running
        _running = None
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=5)
    if not thread.is_alive():
        loop.close()


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        if _running is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="brownout-ssh", daemon=True)
            thread.start()
            _running = loop, thread
        return _running[0]


atexit.register(stop)
