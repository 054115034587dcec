"""The same load for every cluster: reads and writes apart, at a fixed rate, with default policies.

Run as a program it fills its set, prints a line of JSON for each 100 ms, and after a line on its
input reads everything back:

    python -m tests.databases.aerospike.fidelity.load PORT --seconds 30
"""

import argparse
import json
import queue
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import aerospike
from aerospike import exception

_NAMESPACE, _SET = "test", "fidelity"
_RATE, _READS, _KEYS, _BYTES = 1000, 0.7, 10_000, 256
#: Enough for all writes to hang for a second, as they do on a replica that is gone.
_WORKERS = {"r": 40, "w": 220}
_BUCKET_S = 0.1


class Tally:
    """Counts ends by what they are, and hands them over bucket by bucket."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._worst = 0.0

    def add(self, what: str, took_s: float) -> None:
        """Count one end."""
        with self._lock:
            self._counts[what] += 1
            self._worst = max(self._worst, took_s)

    def turn(self) -> dict[str, Any]:
        """Return what came since the last turn."""
        with self._lock:
            counts, worst = self._counts, self._worst
            self._counts, self._worst = Counter(), 0.0
        return {"wall": time.time(), "counts": counts, "worst_ms": worst * 1000}


class Load:
    """The data, who writes which of it, and the last write of each key that was acknowledged."""

    def __init__(self, client: aerospike.Client) -> None:
        self._client = client
        self._keys = [(_NAMESPACE, _SET, number) for number in range(_KEYS)]
        self._tried = [0] * _KEYS
        self._acked = [0] * _KEYS
        self._free = [threading.Lock() for _ in range(_KEYS)]
        self.tally = Tally()

    def fill(self) -> None:
        """Write every key once."""
        for number in range(_KEYS):
            self._put(number, {"total_timeout": 10_000, "max_retries": 10})

    def read(self) -> None:
        """Read any key."""
        self._client.get(self._keys[random.randrange(_KEYS)])

    def write(self) -> None:
        """Write a key that nobody else is writing."""
        number = random.randrange(_KEYS)
        while not self._free[number].acquire(blocking=False):
            number = random.randrange(_KEYS)
        try:
            self._put(number, {})
        finally:
            self._free[number].release()

    def lost(self) -> int:
        """Return how many keys are older than their last acknowledged write."""
        policy = {"total_timeout": 10_000, "max_retries": 10}
        lost = 0
        for number, key in enumerate(self._keys):
            try:
                _, _, bins = self._client.get(key, policy=policy)
                lost += bins["n"] < self._acked[number]
            except exception.RecordNotFound:
                lost += 1
        return lost

    def _put(self, number: int, policy: dict[str, int]) -> None:
        self._tried[number] += 1
        bins = {"n": self._tried[number], "v": b"x" * _BYTES}
        self._client.put(self._keys[number], bins, policy=policy)
        self._acked[number] = self._tried[number]


def drive(load: Load, seconds: float) -> None:
    """Send operations on time for so long, and print every bucket."""
    due: dict[str, queue.SimpleQueue[float | None]] = {k: queue.SimpleQueue() for k in _WORKERS}
    does: dict[str, Callable[[], None]] = {"r": load.read, "w": load.write}
    workers = {
        kind: [
            threading.Thread(target=_work, args=(kind, due[kind], does[kind], load.tally))
            for _ in range(count)
        ]
        for kind, count in _WORKERS.items()
    }
    for worker in (*workers["r"], *workers["w"]):
        worker.start()
    _schedule(seconds, due, load.tally)
    for kind, hired in workers.items():
        for _ in hired:
            due[kind].put(None)
        for worker in hired:
            worker.join()


def _schedule(
    seconds: float, due: "dict[str, queue.SimpleQueue[float | None]]", tally: Tally
) -> None:
    start = time.monotonic()
    turn = start + _BUCKET_S
    for number in range(int(seconds * _RATE)):
        at = start + number / _RATE
        time.sleep(max(0.0, at - time.monotonic()))
        due["r" if random.random() < _READS else "w"].put(at)
        if at >= turn:
            _say(tally.turn())
            turn += _BUCKET_S


def _work(
    kind: str, due: "queue.SimpleQueue[float | None]", do: Callable[[], None], tally: Tally
) -> None:
    while (at := due.get()) is not None:
        if time.monotonic() - at > 1.0:
            tally.add("missed", 0.0)
            continue
        begun, end = time.monotonic(), kind
        try:
            do()
        except exception.AerospikeError as error:
            end = f"{kind}{error.code}{'d' if error.in_doubt else ''}"
        tally.add(end, time.monotonic() - begun)


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    """Fill, drive, and read back once there is a line on the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, required=True)
    given = parser.parse_args()
    client = aerospike.client({"hosts": [("127.0.0.1", given.port)]}).connect()
    load = Load(client)
    load.fill()
    _say({"filled": _KEYS})
    drive(load, given.seconds)
    _say({"driven": True})
    if sys.stdin.readline():
        _say({"lost": load.lost()})
    client.close()


if __name__ == "__main__":
    main()
