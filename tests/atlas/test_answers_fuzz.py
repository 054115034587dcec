"""Whatever the API answers is read, or refused in words; so is a resize of what was read."""

import json
from typing import Any

from hypothesis import given
from tests.fuzzing import answers, changed, damaged, fuzzed

from brownout.atlas.answers import AtlasCluster, Measurements, read
from brownout.atlas.sizes import Size, resized

NODES = {"instanceSize": "M30", "nodeCount": 3, "diskSizeGB": 40.0}
REGION = {"providerName": "AWS", "regionName": "US_EAST_1", "electableSpecs": NODES}
CLUSTER = {
    "name": "orders",
    "stateName": "IDLE",
    "paused": False,
    "clusterType": "REPLICASET",
    "replicationSpecs": [{"id": "1", "zoneId": "z", "regionConfigs": [REGION]}],
}
POINT = {"timestamp": "2026-11-21T12:00:00Z", "value": 1.5}
MEASURED = {"processId": "h:1", "measurements": [{"name": "LAG", "dataPoints": [POINT]}]}


def _read_and_resize(text: bytes) -> Any:
    return resized(
        read(AtlasCluster, text, "GET").replication_specs, Size("M40", 80.0, 5, 2), "SHARDED"
    )


@fuzzed()
@given(data=damaged(json.dumps(CLUSTER).encode()))
def test_a_damaged_cluster_is_read_or_refused(data: bytes) -> None:
    answers(lambda: _read_and_resize(data))


@fuzzed(100)
@given(odd=changed(CLUSTER))
def test_an_odd_cluster_is_read_or_refused(odd: Any) -> None:
    answers(lambda: _read_and_resize(json.dumps(odd).encode()))


@fuzzed()
@given(odd=changed(MEASURED))
def test_odd_measurements_are_read_or_refused(odd: Any) -> None:
    answers(lambda: read(Measurements, json.dumps(odd).encode(), "GET"))
