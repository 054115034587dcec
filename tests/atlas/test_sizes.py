"""What a resize sends: everything as it came, and another size."""

from typing import Any

import jsonschema
import pytest
from tests.atlas.schemas import CHANGE

from brownout.atlas.sizes import Size, layout, resized, restoring, same, sizes
from brownout.base.errors import ConfigurationError


def specs(tier: str = "M30", disk_gb: float = 40.0, **more: Any) -> list[dict[str, Any]]:
    nodes = {"instanceSize": tier, "nodeCount": 3, "diskSizeGB": disk_gb}
    analytics = {"instanceSize": "M40", "nodeCount": 1, "diskSizeGB": disk_gb}
    region = {
        "providerName": "AWS",
        "regionName": "US_EAST_1",
        "priority": 7,
        "electableSpecs": nodes,
        "readOnlySpecs": {**nodes, "nodeCount": 0},
        "analyticsSpecs": analytics,
        "effectiveElectableSpecs": nodes,
        "autoScaling": {"compute": {"enabled": False}},
        **more,
    }
    return [{"id": "6140", "zoneId": "z1", "zoneName": "Zone 1", "regionConfigs": [region]}]


def test_another_tier_is_for_all_base_nodes_and_analytics_nodes_keep_theirs() -> None:
    before = specs()

    change = resized(before, Size("M40"))

    jsonschema.Draft202012Validator(CHANGE).validate(change)
    (region,) = change["replicationSpecs"][0]["regionConfigs"]
    assert region["electableSpecs"] == {"instanceSize": "M40", "nodeCount": 3, "diskSizeGB": 40.0}
    assert region["readOnlySpecs"]["instanceSize"] == "M40"
    assert region["autoScaling"] == {"compute": {"enabled": False}}
    assert before == specs()  # what was read is not changed


def test_another_storage_is_for_every_node() -> None:
    change = resized(specs(), Size(disk_gb=80))

    (region,) = change["replicationSpecs"][0]["regionConfigs"]
    assert region["analyticsSpecs"] == {"instanceSize": "M40", "nodeCount": 1, "diskSizeGB": 80}
    assert sizes(change["replicationSpecs"]) == [("M30", 80.0)]


def test_a_cluster_of_several_shards_and_regions_has_all_of_them_resized() -> None:
    change = resized([*specs(), *specs("M50")], Size("M60"))

    assert sizes(change["replicationSpecs"]) == [("M60", 40.0)]


@pytest.mark.parametrize(
    ("before", "tier", "disk_gb", "words"),
    [
        (specs(), "M30", 40.0, "has M30 with 40 GB already"),
        (specs(), "", None, "has M30 with 40 GB already"),
        (specs("M0"), "M30", None, "found the tier M0, wanted M10 or larger"),
        (specs(), "M2", None, "found the tier M2, wanted M10 or larger"),
        (specs(), "", 0.0, "disk_gb: found 0, wanted more than 0"),
    ],
    ids=["same", "nothing", "from shared", "to shared", "no storage"],
)
def test_what_is_no_resize_is_refused(
    before: list[dict[str, Any]], tier: str, disk_gb: float | None, words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        resized(before, Size(tier, disk_gb))


def test_the_region_of_the_highest_priority_takes_other_nodes() -> None:
    second = {"providerName": "AWS", "regionName": "US_WEST_2", "priority": 6,
              "electableSpecs": {"instanceSize": "M30", "nodeCount": 2}}  # fmt: skip
    before = specs()
    before[0]["regionConfigs"].insert(0, second)

    change = resized(before, Size(nodes=7))

    jsonschema.Draft202012Validator(CHANGE).validate(change)
    assert layout(change["replicationSpecs"]) == [[("US_WEST_2", 2), ("US_EAST_1", 5)]]
    assert same(change["replicationSpecs"], change)
    assert not same(before, change)


def test_a_shard_more_is_as_the_last_one_and_new_to_atlas() -> None:
    change = resized(specs(), Size(shards=2), confirm_sharding=True)

    jsonschema.Draft202012Validator(CHANGE).validate(change)
    assert change["clusterType"] == "SHARDED"
    assert [spec.get("id") for spec in change["replicationSpecs"]] == ["6140", None]
    assert sizes(change["replicationSpecs"]) == [("M30", 40.0)]
    # The way back is one shard: it never is a replica set again.
    assert restoring(specs(), change)["clusterType"] == "SHARDED"
    assert len(restoring(specs(), change)["replicationSpecs"]) == 1


def test_a_sharded_cluster_may_have_fewer_shards() -> None:
    change = resized([*specs(), *specs("M30")], Size(shards=1), "SHARDED")

    assert len(change["replicationSpecs"]) == 1
    assert "clusterType" not in change


def test_what_is_in_effect_counts_before_what_was_asked_for() -> None:
    scaled = specs(effectiveElectableSpecs={"instanceSize": "M50", "nodeCount": 3})

    assert sizes(scaled)[0] == ("M50", None)
    assert not same(scaled, {"replicationSpecs": specs()})


@pytest.mark.parametrize(
    ("size", "kind", "words"),
    [
        (Size(nodes=4), "REPLICASET", "nodes: found 4, wanted 3, 5 or 7"),
        (Size(shards=2), "REPLICASET", "never becomes a replica set again"),
        (Size(shards=2), "GEOSHARDED", "sharded by zones"),
        (Size(shards=-1), "SHARDED", "shards: found -1, wanted 1 or more"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(size: Size, kind: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        resized(specs(), size, kind)


def test_no_region_is_left_without_a_node() -> None:
    before = specs()
    before[0]["regionConfigs"].append(
        {"regionName": "US_WEST_2", "priority": 6, "electableSpecs": {"nodeCount": 4}}
    )

    with pytest.raises(ConfigurationError, match="shard 1 would have none in US_EAST_1"):
        resized(before, Size(nodes=3))


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        resized(specs("M0"), Size(disk_gb=-1, nodes=2))

    assert len(caught.value.problems) == 3
