"""A load generator that stands still during a fault, for real: not the database's doing."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import waiting

from brownout.inventory.model import Cluster

CLOSED = ",".join(
    f"streams.{stream}.{setting}"
    for stream in ("lookups", "orders")
    for setting in ("rate=null", "concurrency=1")
)


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(400)
@pytest.mark.parametrize("load", ["streams.lookups.rate=500", CLOSED], ids=["open", "closed"])
def test_a_stopped_generator_breaks_no_limit_of_a_sound_database(
    load: str, lab_redis: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("node-pause"), baseline_s=chaos.LEAST_BASELINE_S)
    options = ("--var", f"cluster={lab_redis.name}", "--var", f"load={load},data.keys=500",
               "--var", "target=secondary", "--var", "hang_s=6")  # fmt: skip
    process = chaos.start(experiment, tmp_path, *options)
    waiting.await_true(lambda: any((tmp_path / "runs").glob("*/events.ndjson")))
    (events,) = (tmp_path / "runs").glob("*/events.ndjson")
    waiting.await_true(lambda: "pause_node" in events.read_text())
    time.sleep(1.5)
    pid = json.loads((events.parent / "generator.json").read_text())["pid"]
    for length_s in (1.0, 0.09):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(length_s)
        os.kill(pid, signal.SIGCONT)
        time.sleep(1.0)
    ran = chaos.finish(process, tmp_path)
    # How steady the throughput of a closed loop is on a busy machine is not tested.
    broken = {each["name"] for each in ran.impact["slos"] if each["met"] is False}
    assert not broken & {"blackout", "longest_blackout", "recovery_time"}, ran.output
    ranges = ran.impact["faults"][0]["ranges"]
    for name, difference in (("tps_drop", 0.2), ("longest_blackout", 0.7)):
        best, worst = ranges[name]
        assert worst - best > difference, (name, ranges[name])
    assert ranges["longest_blackout"][0] < 0.3
    best, worst = ranges["latency.during.max_us"]
    assert best < 500_000 < worst
    assert any("itself was late" in remark for remark in ran.impact["remarks"])
