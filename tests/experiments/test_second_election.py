"""A killed primary with a higher priority takes over again when it is back, for real."""

import csv
import math
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.errors import PyMongoError
from pymongo.write_concern import WriteConcern
from tests import chaos_runner as chaos
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import adapter_for
from brownout.databases.resize import Adjustable
from brownout.inventory.model import Cluster
from brownout.run.events import read_events

pytestmark = pytest.mark.live

#: A planned election takes less than the usual deadline of 1 s, and would not be felt.
DEADLINE_S = 0.2
LOAD = ",".join([
    chaos.LOAD, *(f"streams.{each}.deadline_s={DEADLINE_S}" for each in ("orders", "lookups"))
])  # fmt: skip
#: So many of the 60 operations of a second are a dip; fewer may be late on a busy machine.
FELT = 10
#: How long a dip must be over to have ended, and some more.
HELD_S = 8


def _has_started(events: Path) -> bool:
    return any(e.type == "mend" and e.effective is not None for e in read_events(events))


def _is_broken(events: Path) -> bool:
    return any(e.type == "break" and e.effective is not None for e in read_events(events))


def _wait_for(file: Path) -> dict[str, Any]:
    """Return a step of an experiment that waits until a file is there."""
    arguments = ["-c", f"until [ -e {file} ]; do sleep 0.1; done"]
    process = {"type": "process", "path": "sh", "arguments": arguments, "timeout": 120}
    return {"type": "action", "name": f"wait-for-{file.name}", "provider": process}


def _writes(cluster: Cluster) -> bool:
    """Whether a majority takes a write as fast as the load wants it."""
    hosts = [node.address for node in cluster.nodes]
    majority = WriteConcern("majority")
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
        hosts, replicaSet=cluster.name, timeoutMS=5_000
    )
    with client:
        collection = client["writes"].get_collection("all", write_concern=majority)
        took = []
        with suppress(PyMongoError):
            for _ in range(2):  # the first one also connects
                began = time.monotonic()
                collection.insert_one({})
                took.append(time.monotonic() - began)
        return len(took) == 2 and took[-1] < DEADLINE_S


def _unserved(run: Path, start: float, end: float = math.inf) -> Counter[int]:
    """Return how many operations due in each second of a time were not served in time."""
    ends = ("late", "failed", "in_doubt", "shed", "missed")
    seconds: Counter[int] = Counter()
    with (run / "series.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if start < float(row["t"]) <= end:
                seconds[int(float(row["t"]))] += sum(int(row[end] or 0) for end in ends)
    return seconds


def test_a_member_with_priority_that_takes_over_again_is_judged_by_what_its_return_costs(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    adapter = adapter_for(fresh_lab)
    (first,) = adapter.targets("primary", 1)
    assert isinstance(adapter, Adjustable)
    adapter.adjust("votes_and_priority", {"votes": 1, "priority": 5}, first)
    await_whole(adapter)
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["configuration"]["downtime_s"] = 0
    over, go = tmp_path / "over", tmp_path / "go"
    names = [step["name"] for step in experiment["method"]]
    experiment["method"].insert(names.index("start-the-node"), _wait_for(over))
    experiment["method"].append(_wait_for(go))
    limits = ("--var", "limits=return_recovery_time=0,recovery_time=60")
    cluster = ("--var", f"cluster={fresh_lab.name}")
    process = chaos.start(experiment, tmp_path, *cluster, "--var", f"load={LOAD}", *limits)
    path = tmp_path / "runs"
    await_true(lambda: any(map(_is_broken, path.glob("*/events.ndjson"))), "no node was killed")
    await_true(lambda: _writes(fresh_lab), "no majority took a write again")
    time.sleep(HELD_S)
    over.touch()
    await_true(lambda: any(map(_has_started, path.glob("*/events.ndjson"))), "no node started")
    await_true(
        lambda: [m.node for m in adapter.members() if m.role == "primary"] == [first.name],
        f"{first.name} did not take over again",
    )
    adapter.close()
    go.touch()
    ran = chaos.finish(process, tmp_path)
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    (mended,) = [each["effective"] for each in fault["events"] if each["type"] == "mend"]
    down = mended - fault["effective"]
    limits_met = {slo["name"]: slo["met"] for slo in ran.impact["slos"]}
    assert ran.directory is not None, ran.output
    unserved = _unserved(ran.directory, mended)
    if not unserved.total():  # the election was over within the deadline
        assert fault["return_recovery_time"] == 0, ran.output
    # On a busy machine a dip may be under way at the return, which then has none of its own.
    was_under_way = _unserved(ran.directory, mended - HELD_S, mended).total() > 0
    if max(unserved.values()) >= FELT and not was_under_way:
        assert fault["return_recovery_time"] > 0, ran.output
    assert limits_met["return_recovery_time"] is (fault["return_recovery_time"] == 0)
    assert fault["recovery_time"] < down + fault["return_recovery_time"], ran.output
    if fault["return_recovery_time"]:
        settled = down + fault["return_recovery_time"]
        assert fault["settled_time"] == pytest.approx(settled, abs=1.1)
