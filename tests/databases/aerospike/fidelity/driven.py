"""Making a trial on a lab: the load, the fault, and the nodes' own words all the while."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.databases.aerospike.fidelity.trial import Bucket, Poll, Trial

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.databases.aerospike.info import ask, pairs
from brownout.inventory.model import Cluster, Node
from brownout.machine.host import host_for

__all__ = ["trial"]

_BASELINE_S, _DOWN_S, _AFTER_S = 5.0, 8.0, 6.0
_PAUSE_S = 0.8
_WHOLE_TIMEOUT_S = 120.0
_STABLE = "cluster-stable:size=5;ignore-migrations=false"
_BUT_MIGRATING = "cluster-stable:ignore-migrations=true"
_LINES = {"expired": "node expired", "key": "applied new cluster key", "rebalanced": "rebalanced:"}


def trial(cluster: Cluster, what: str, where: str) -> Trial:
    """Do `what` (`kill-wipe`, `kill` or `pause`) to the third node under load."""
    victim = cluster.node("n3")
    lasts = _BASELINE_S + _AFTER_S + (_DOWN_S if what != "pause" else _PAUSE_S)
    with _load(cluster, lasts) as load, _polled(cluster) as polls:
        time.sleep(_BASELINE_S)
        t0, restarted = _break(cluster, victim, what)
        lines = list(load.until("driven"))
        _await_whole(cluster)
        lost = load.read_back()
    return Trial(
        where=where,
        victim=victim.name,
        buckets=tuple(_bucket(line, t0) for line in lines if "counts" in line),
        polls=tuple(sorted((_shifted(poll, t0) for poll in polls), key=lambda poll: poll.t)),
        restarted=restarted,
        lost=lost,
        logged={} if what == "pause" else _logged(cluster.nodes[0], t0),
    )


def _break(cluster: Cluster, victim: Node, what: str) -> tuple[float, float | None]:
    """Return when the fault was, and when it was mended, from there."""
    host = host_for(victim)
    if what == "pause":
        host.pause()
        t0 = time.time()
        time.sleep(_PAUSE_S)
        host.resume()
        return t0, _PAUSE_S
    host.stop("kill")
    t0 = time.time()
    time.sleep(_DOWN_S)
    if what == "kill-wipe":
        with AerospikeAdapter(cluster) as adapter:
            host.wipe(adapter.data_directories(victim))
    host.start()
    return t0, time.time() - t0


class _Load:
    """The load's process, and what it prints."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def until(self, name: str) -> Iterator[dict[str, Any]]:
        """Return each line up to the one that has `name`."""
        assert self._process.stdout is not None
        for text in self._process.stdout:
            line = json.loads(text)
            yield line
            if name in line:
                return
        raise ClusterError(f"the load ended before it said `{name}`")

    def read_back(self) -> int:
        """Return how many acknowledged writes are gone."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(list(self.until("lost"))[-1]["lost"])


@contextmanager
def _load(cluster: Cluster, seconds: float) -> Iterator[_Load]:
    port = cluster.nodes[0].address.rpartition(":")[2]
    words = [sys.executable, "-m", "tests.databases.aerospike.fidelity.load", port]
    with subprocess.Popen(
        [*words, "--seconds", str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            load = _Load(process)
            list(load.until("filled"))
            yield load
        finally:
            process.terminate()


@contextmanager
def _polled(cluster: Cluster) -> Iterator[list[Poll]]:
    """Ask every node about 20 times a second; `t` is the wall clock's."""
    polls: list[Poll] = []
    ended = threading.Event()

    def ask_on(node: Node) -> None:
        while not ended.wait(0.05):
            polls.append(_poll(node))

    askers = [threading.Thread(target=ask_on, args=(node,)) for node in cluster.nodes]
    for asker in askers:
        asker.start()
    try:
        yield polls
    finally:
        ended.set()
        for asker in askers:
            asker.join()


def _poll(node: Node) -> Poll:
    try:
        said = ask(node.address, [_STABLE, _BUT_MIGRATING, "statistics"], 1.0)
    except ClusterError:
        return Poll(time.time(), node.name)
    numbers = pairs(said["statistics"])
    return Poll(
        time.time(),
        node.name,
        said[_STABLE],
        said[_BUT_MIGRATING],
        numbers["cluster_key"],
        int(numbers["migrate_partitions_remaining"]),
    )


def _await_whole(cluster: Cluster) -> None:
    deadline = time.monotonic() + _WHOLE_TIMEOUT_S
    with AerospikeAdapter(cluster) as adapter:
        while not adapter.stable("whole").reached:
            if time.monotonic() > deadline:
                raise ClusterError(f"the lab is not whole after {_WHOLE_TIMEOUT_S:g} s")
            time.sleep(0.1)
    time.sleep(0.2)  # the polls see it too


def _bucket(line: Mapping[str, Any], t0: float) -> Bucket:
    counts = dict(line["counts"])
    reads, writes = counts.pop("r", 0), counts.pop("w", 0)
    return Bucket(line["wall"] - 0.1 - t0, reads, writes, counts, line["worst_ms"])


def _shifted(poll: Poll, t0: float) -> Poll:
    return Poll(
        poll.t - t0, poll.node, poll.stable, poll.stable_but_migrating, poll.key, poll.remaining
    )


def _logged(node: Node, t0: float) -> dict[str, float]:
    """Return when the node's log first says each thing after the fault."""
    assert node.host is not None
    log = Path(str(node.host.config_file)).with_name("asd.log").read_text(encoding="utf-8")
    found: dict[str, float] = {}
    for line in log.splitlines():
        stamp = re.match(r"(\w+ \d+ \d+ [\d:.]+) GMT", line)
        if stamp is None:
            continue
        at = datetime.strptime(stamp[1], "%b %d %Y %H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
        for name, words in _LINES.items():
            if words in line and at > t0:
                found.setdefault(name, at - t0)
    return found
