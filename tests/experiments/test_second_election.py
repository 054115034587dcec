"""A killed primary with a higher priority takes over again when it is back, for real."""

from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.waiting import await_true, await_whole

from brownout.databases.adapter import adapter_for
from brownout.databases.resize import Adjustable
from brownout.inventory.model import Cluster
from brownout.run.events import read_events

pytestmark = pytest.mark.live

#: A planned election takes less than the usual deadline of 1 s, and would not be felt.
LOAD = f"{chaos.LOAD},streams.orders.deadline_s=0.2,streams.lookups.deadline_s=0.2"


def _has_started(events: Path) -> bool:
    return any(e.type == "mend" and e.effective is not None for e in read_events(events))


def test_a_member_with_priority_that_takes_over_again_is_judged_by_what_its_return_costs(
    fresh_lab: Cluster, tmp_path: Path
) -> None:
    adapter = adapter_for(fresh_lab)
    (first,) = adapter.targets("primary", 1)
    assert isinstance(adapter, Adjustable)
    adapter.adjust("votes_and_priority", {"votes": 1, "priority": 5}, first)
    await_whole(adapter)
    experiment = chaos.quick(chaos.load("node-kill"))
    experiment["configuration"]["downtime_s"] = 12  # the first outage is over, and has held
    go = tmp_path / "go"
    wait = f"until [ -e {go} ]; do sleep 0.1; done"
    experiment["method"].append({
        "type": "action", "name": "wait", "provider": {
            "type": "process", "path": "sh", "arguments": ["-c", wait], "timeout": 120},
    })  # fmt: skip
    limits = ("--var", "limits=return_recovery_time=0,recovery_time=60")
    cluster = ("--var", f"cluster={fresh_lab.name}")
    process = chaos.start(experiment, tmp_path, *cluster, "--var", f"load={LOAD}", *limits)
    path = tmp_path / "runs"
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
    assert fault["return_recovery_time"] > 0, ran.output
    assert fault["recovery_time"] < down + fault["return_recovery_time"], ran.output
    assert fault["settled_time"] == pytest.approx(down + fault["return_recovery_time"], abs=1.1)
    limits_met = {slo["name"]: slo["met"] for slo in ran.impact["slos"]}
    assert limits_met["return_recovery_time"] is False
