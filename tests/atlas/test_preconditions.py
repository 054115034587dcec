"""A failover is tested only where Atlas's own conditions are met; all that are not are listed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from brownout.atlas.answers import AtlasCluster, Outage, Process
from brownout.atlas.preconditions import Facts, unmet

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def cluster(tier: str = "M30", **more: Any) -> AtlasCluster:
    nodes = {"instanceSize": tier, "nodeCount": 3, "diskSizeGB": 40.0}
    region = {"providerName": "AWS", "regionName": "US_EAST_1", "electableSpecs": nodes}
    data = {"name": "orders", "state_name": "IDLE", "cluster_type": "REPLICASET"}
    specs = [{"id": "1", "regionConfigs": [region]}]
    return AtlasCluster.model_validate({**data, "replication_specs": specs, **more})


def process(name: str, role: str, age_s: float = 30.0) -> Process:
    return Process(
        id=name, hostname=name, port=1, type_name=role, replica_set_name="rs0",
        last_ping=NOW - timedelta(seconds=age_s),
    )  # fmt: skip


MEMBERS = [
    process("n1", "REPLICA_PRIMARY"),
    process("n2", "REPLICA_SECONDARY"),
    process("n3", "REPLICA_SECONDARY"),
]
GOOD = Facts(cluster(), False, None, MEMBERS, {"n1": 0.0, "n2": 1.0}, {"n1": 0.5}, {"n1": 20_000.0})
OUTAGE = Outage(id="1", state="SIMULATING", outage_filters=[])


def test_a_healthy_cluster_lacks_nothing() -> None:
    assert unmet(GOOD, NOW) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cluster": cluster("M5")}, "the tier is M5, wanted M10 or larger"),
        ({"cluster": cluster(paused=True)}, "the cluster is paused"),
        ({"pending": True}, "a change is under way: the cluster is IDLE"),
        ({"cluster": cluster(state_name="UPDATING")}, "the cluster is UPDATING"),
        ({"outage": OUTAGE}, "an outage is simulated: it is SIMULATING"),
        ({"processes": []}, "Atlas lists no process of this cluster"),
        ({"processes": MEMBERS[1:]}, "the set rs0 has no primary"),
        ({"processes": [*MEMBERS, process("n4", "RECOVERING")]}, "n4 is RECOVERING"),
        ({"processes": [process("n1", "REPLICA_PRIMARY", 900)]}, "n1 was last heard of at 2026"),
        ({"lags_s": {"n2": 10.0}}, "replication lag of n2 is 10, wanted less than 10 s"),
        ({"lags_s": {"n2": None}}, "replication lag of n2 is not known"),
        ({"free_disk": {"n1": 0.04}}, "free disk of n1 is 0.04, wanted at least 0.05"),
        ({"oplog_s": {"n1": 60.0}}, "oplog of n1 is 60, wanted at least 10800 s"),
        ({"oplog_s": {}}, "oplog is unknown"),
    ],
)
def test_what_is_not_met_is_said(change: dict[str, Any], words: str) -> None:
    (found,) = unmet(replace(GOOD, **change), NOW)

    assert words in found


def test_all_that_is_not_met_is_listed() -> None:
    bad = replace(GOOD, cluster=cluster("M0", paused=True), lags_s={"n2": 30.0}, oplog_s={})

    assert len(unmet(bad, NOW)) == 4
