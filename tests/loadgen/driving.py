"""Driving the real load generator and the scripted server through their own protocol.

Nothing here knows the Python side of brownout but where the binary is: what these tests say of
the generator holds for whoever speaks to it.
"""

import csv
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brownout.base.binary import find_loadgen

ENDS = ("ok", "late", "failed", "in_doubt", "shed", "missed")

#: A deadline for events, generous because it is never waited for when all is well.
PATIENCE_S = 60.0


class Server:
    """A scripted server; its truth is known once it has ended."""

    def __init__(self, directory: Path, script: Mapping[str, Any]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "script.json"
        path.write_text(json.dumps(script))
        self._truth = directory / "truth.json"
        self.process = subprocess.Popen(
            [find_loadgen(), "serve", path, "--truth", self._truth],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = str(json.loads(self.process.stdout.readline())["address"])

    def truth(self) -> dict[str, Any]:
        """End the server and return what it did."""
        self.close()
        found: dict[str, Any] = json.loads(self._truth.read_text())
        return found

    def close(self) -> None:
        """End the server. Safe to repeat."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE_S)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Load:
    """One `loadgen run`. Every event it says is kept in `events`, if we listen."""

    def __init__(
        self,
        preexec: Callable[[], None] | None = None,
        listen: bool = True,
        depot: Path | None = None,
        hold_s: float = PATIENCE_S,
    ) -> None:
        kept = ["--depot", str(depot), "--hold", str(hold_s)] if depot else []
        self.process = subprocess.Popen(
            [find_loadgen(), "run", *kept],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=preexec,
        )
        self.events: list[dict[str, Any]] = []
        self._heard = threading.Condition()
        self._taken = 0
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        if listen:
            self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._heard:
                self.events.append(json.loads(line))
                self._heard.notify_all()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def say(self, cmd: str, **more: Any) -> None:
        """Send a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"cmd": cmd, **more}) + "\n")
        self.process.stdin.flush()

    def hear(self, *names: str) -> dict[str, Any]:
        """Return the next event with one of these names; others are passed over."""
        with self._heard:
            while True:
                while self._taken < len(self.events):
                    event = self.events[self._taken]
                    self._taken += 1
                    if event["event"] in names:
                        return event
                if self._ended:
                    raise AssertionError(f"ended without saying {names}: {self.events[-3:]}")
                if not self._heard.wait(PATIENCE_S):
                    raise AssertionError(f"did not say {names}: {self.events[-3:]}")

    def ask(self, cmd: str, answer: str, **more: Any) -> dict[str, Any]:
        """Send a command and return its answer. An error fails the test."""
        self.say(cmd, **more)
        event = self.hear(answer, "error")
        assert event["event"] == answer, event
        return event

    def begin(self, spec: Mapping[str, Any]) -> None:
        """Open, load and start."""
        self.ask("open", "opened", spec=spec)
        self.ask("load", "loaded")
        self.ask("start", "started")

    def until(self, t: float) -> None:
        """Return when the live figures have reached `t` on the schedule's clock."""
        while self.hear("live")["t"] < t:
            pass

    def finish(self) -> int:
        """Say exit, and return the exit code."""
        self.say("exit")
        return self.join()

    def join(self) -> int:
        """Return the exit code of a process that is about to end."""
        code = self.process.wait(PATIENCE_S)
        if self._reader.ident is not None:
            self._reader.join(PATIENCE_S)
        return code

    def close(self) -> None:
        """End the process if it still runs. Safe to repeat."""
        if self.process.poll() is None:
            self.process.kill()
        self.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                with suppress(BrokenPipeError):  # a command that nobody read
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def stream(name: str = "app", **changes: Any) -> dict[str, Any]:
    """Return a stream of a specification: 500 operations/s, 70 % reads."""
    made: dict[str, Any] = {
        "name": name,
        "mix": {"read": 0.7, "update": 0.3},
        "rate": 500,
        "deadline_s": 1.0,
    }
    return {**made, **changes}


def verified(name: str = "orders", **changes: Any) -> dict[str, Any]:
    """Return a verified stream: 300 writes/s on 400 keys."""
    made = {"mix": {"update": 1}, "rate": 300, "verified": True, "ledger_keys": 400}
    return stream(name, **{**made, **changes})


def specification(
    server: Server, directory: Path, *streams: Mapping[str, Any], **changes: Any
) -> dict[str, Any]:
    """Return a specification for the scripted server, with the run in `directory`."""
    made: dict[str, Any] = {
        "schema": 1,
        "dir": str(directory),
        "seed": 4711,
        "writer": "test-run",
        "driver": "scripted",
        "connection": {"uri": f"scripted://{server.address}"},
        "namespace": "test",
        "data": {"keys": 2000, "value_bytes": 64, "load": True},
        "streams": list(streams),
    }
    return {**made, **changes}


@dataclass(frozen=True, slots=True)
class Measured:
    """A run that is over, and what the server did to it."""

    run: Path
    stopped: dict[str, Any]
    truth: dict[str, Any]


def measure(
    directory: Path,
    seconds: float,
    script: Mapping[str, Any],
    *streams: Mapping[str, Any],
    **changes: Any,
) -> Measured:
    """Run a load for some seconds, and read its ledger back."""
    with running(directory, script, *streams, **changes) as (load, server, run):
        load.until(seconds)
        stopped = load.ask("stop", "stopped")
        load.ask("verify", "verified")
        assert load.finish() == 0
        return Measured(run, stopped, server.truth())


def measure_all(directory: Path, scenarios: Mapping[str, tuple[Any, ...]]) -> dict[str, Measured]:
    """Run scenarios side by side: name to (seconds, script, stream) or these and changes."""

    def one(item: tuple[str, tuple[Any, ...]]) -> tuple[str, Measured]:
        name, (seconds, script, made, *more) = item
        changes = more[0] if more else {}
        return name, measure(directory / name, seconds, script, made, **changes)

    with ThreadPoolExecutor(4) as pool:
        return dict(pool.map(one, scenarios.items()))


@contextmanager
def running(
    directory: Path, script: Mapping[str, Any], *streams: Mapping[str, Any], **changes: Any
) -> Iterator[tuple[Load, Server, Path]]:
    """Start a scripted server and a load on it; both end with the block."""
    run = directory / "run"
    with Server(directory, script) as server, Load() as load:
        load.begin(specification(server, run, *streams, **changes))
        yield load, server, run


class Row(dict[str, str]):
    """One line of a CSV file; its figures by name."""

    def n(self, name: str) -> int:
        return int(self[name])

    @property
    def t(self) -> float:
        return float(self["t"])


def rows(path: Path) -> list[Row]:
    """Return the lines of a CSV file."""
    with path.open(newline="") as file:
        return [Row(line) for line in csv.DictReader(file)]


def check_identities(run: Path) -> None:
    """Fail unless every sum of the account agrees, and no bucket is left out."""
    pending: dict[tuple[str, str], int] = {}
    times: dict[tuple[str, str], list[str]] = {}
    for row in rows(run / "series.csv"):
        slot = (row["stream"], row["op"])
        ended = sum(row.n(end) for end in ENDS)
        change = row.n("pending") - pending.get(slot, 0)
        assert row.n("offered") == ended + change, row
        pending[slot] = row.n("pending")
        times.setdefault(slot, []).append(row["t"])
    for found in times.values():
        assert found == [f"{i // 10}.{i % 10}" for i in range(len(found))]
    for row in rows(run / "outcomes.csv"):
        assert row.n("offered") == sum(row.n(end) for end in ENDS), row
    offered = [
        [r.n("offered") for r in rows(run / f"{name}.csv")] for name in ("series", "outcomes")
    ]
    assert offered[0] == offered[1]
    lanes: dict[tuple[str, str], int] = {}
    for row in rows(run / "lanes.csv"):
        part = (row["lane"], row["op"])
        change = row.n("pending") - lanes.get(part, 0)
        assert row.n("offered") == row.n("ok") + row.n("bad") + change, row
        lanes[part] = row.n("pending")
    summary = json.loads((run / "generator.json").read_text())
    assert summary["identity_violations"] == 0
    assert summary["offered"] == sum(summary[end] for end in ENDS)


def loss(run: Path, begin: float, end: float) -> float:
    """Return the share of what was intended in [begin, end) that was not ok.

    What a busy machine made the generator miss says nothing about the database and does not count.
    """
    inside = [row for row in rows(run / "outcomes.csv") if begin - 0.01 < row.t < end - 0.01]
    offered = sum(row.n("offered") - row.n("missed") for row in inside)
    return 1 - sum(row.n("ok") for row in inside) / offered


def ledger(run: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return what was promised and what was read back, by key, and the last line."""
    lines = [json.loads(line) for line in (run / "ledger.ndjson").read_text().splitlines()]
    promised = {line["key"]: line for line in lines if "key" in line}
    found = {line["read"]: line for line in lines if "read" in line and "stream" in line}
    return promised, found, lines[-1]
