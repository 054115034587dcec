"""`python -m brownout.load.canary.process`: the canary itself, in a process of its own.

It reads one line of JSON, its orders with the connection's secrets, and runs until its input
ends: because it is told to end, or because its parent died. Then it waits a moment for what has
not ended, removes its records, and writes how it was. A kernel's alarm ends it where that hangs.

Two operations begin together at each intended start, a write of one record and a read of another,
each in a free thread: what blocks one does not delay the next.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final

from brownout.base.files import private_file
from brownout.base.redact import redact
from brownout.base.wait import wait_until
from brownout.databases.canary import KEYS, Canary, CanaryKind, Target, canary_kind
from brownout.inventory.canary import CanarySpec
from brownout.run.canary import HEADER, UNFINISHED, Call, call_line
from brownout.run.metadata import write_json

__all__ = ["main"]

#: What had not ended when the end was asked for has so long to do it.
_DRAIN_S: Final = 1.0
#: Its records are written by so many threads before it begins.
_FILLING: Final = 8


class Calls:
    """The calls of one client: begun on time, recorded when they end."""

    def __init__(self, kind: CanaryKind, client: Canary, spec: CanarySpec, zero: float) -> None:
        self._kind, self._client, self._spec, self._zero = kind, client, spec, zero
        self._waiting: queue.SimpleQueue[tuple[str, int, float]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._begun: dict[tuple[str, int], float] = {}
        self._ended = False
        self.lags: list[float] = []

    def run(self, file: IO[str], told_to_end: threading.Event) -> None:
        """Begin operations until told to end, and record each; then those without an end."""
        self._file = file
        for _ in range(self._spec.threads):
            threading.Thread(target=self._work, daemon=True).start()
        began, number = time.monotonic(), 0
        while True:
            intended = began + number / self._spec.rate
            if told_to_end.wait(max(0.0, intended - time.monotonic())):
                break
            self.lags.append(time.monotonic() - intended)
            self._begin("write", number, intended)
            self._begin("read", number, intended)
            number += 1
        self._drain()

    def _begin(self, op: str, number: int, intended: float) -> None:
        with self._lock:
            self._begun[op, number] = intended
        self._waiting.put((op, number, intended))

    def _work(self) -> None:
        while True:
            op, number, intended = self._waiting.get()
            sent, cause, code = time.monotonic(), "", ""
            try:
                if op == "write":
                    self._client.write(KEYS[number % len(KEYS)], number)
                else:  # one that was written long ago, so that no read waits for a write
                    self._client.read(KEYS[(number + len(KEYS) // 2) % len(KEYS)])
            except Exception as error:
                cause, code = type(error).__name__, self._kind.code(error)
            took = time.monotonic() - intended
            t = intended - self._zero
            self._record((op, number), Call(t, op, took, sent - intended, cause, code))

    def _record(self, key: tuple[str, int], call: Call) -> None:
        with self._lock:
            if self._ended or self._begun.pop(key, None) is None:
                return
            self._file.write(call_line(call))
            self._file.flush()

    def _drain(self) -> None:
        """Wait a moment for what has not ended; then it counts as without an end."""
        wait_until(lambda: not self._begun, _DRAIN_S, 0.01)
        with self._lock:
            self._ended = True
            now = time.monotonic()
            for (op, _), intended in self._begun.items():
                call = Call(intended - self._zero, op, now - intended, cause=UNFINISHED)
                self._file.write(call_line(call))
            self._file.flush()


def main() -> None:
    """Run until standard input ends; the exit code is 0 if the canary did its work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = json.loads(sys.stdin.readline())
    told_to_end = threading.Event()
    waiting = threading.Thread(
        target=_await_end, args=(told_to_end, float(orders["within_s"])), daemon=True
    )
    waiting.start()
    about: dict[str, Any] = dict(orders["about"])
    code = 0
    try:
        _run(orders, about, told_to_end)
    except Exception as error:
        connection = orders["connection"]
        secrets = (connection.get("password"), (connection.get("tls") or {}).get("key_passphrase"))
        why = redact(f"{type(error).__name__}: {error}", [each for each in secrets if each])
        _write(orders, {**about, "detail": str(why).partition("\n")[0]})
        code = 1
    os._exit(code)  # threads may hang in a call of the client


def _run(orders: Mapping[str, Any], about: dict[str, Any], told_to_end: threading.Event) -> None:
    kind = canary_kind(orders["database"])
    spec = CanarySpec.model_validate(orders["spec"])
    target = Target(
        orders["connection"], orders["options"], orders["namespace"], dict(spec.policies)
    )
    about |= {"client": kind.package, "version": version(kind.package)}
    client = kind(target)
    with ThreadPoolExecutor(_FILLING) as pool:
        list(pool.map(client.write, KEYS, [0] * len(KEYS)))
    zero = float(orders["zero"])
    about |= {
        "policies": redact(client.policies()),
        "began_t": round(time.monotonic() - zero, 6),
    }
    _write(orders, about)
    calls = Calls(kind, client, spec, zero)
    with private_file(Path(orders["calls"])).open("w", encoding="utf-8") as file:
        file.write(",".join(HEADER) + "\n")
        calls.run(file, told_to_end)
    about |= {
        "ended_t": round(time.monotonic() - zero, 6),
        "lag_max_ms": round(max(calls.lags, default=0.0) * 1000, 3),
        "ended": True,
    }
    _write(orders, about)
    with suppress(Exception):  # what is left is removed by the next canary, or `brownout clean`
        client.clean()
        about["removed"] = True
        _write(orders, about)


def _await_end(told_to_end: threading.Event, within_s: float) -> None:
    """Wait until the input ends; the kernel ends the process `within_s` seconds later."""
    sys.stdin.read()
    signal.setitimer(signal.ITIMER_REAL, within_s)  # SIGALRM ends a process whatever hangs
    told_to_end.set()


def _write(orders: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    write_json(Path(orders["about_path"]), dict(about))


if __name__ == "__main__":
    main()
