"""What a resize sends: everything as it came, and another size."""

from typing import Any

import jsonschema
import pytest
from tests.cluster.atlas.schemas import CHANGE

from brownout.cluster.atlas.sizing import resized, sizes
from brownout.errors import ConfigurationError


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

    change = resized(before, tier="M40")

    jsonschema.Draft202012Validator(CHANGE).validate(change)
    (region,) = change["replicationSpecs"][0]["regionConfigs"]
    assert region["electableSpecs"] == {"instanceSize": "M40", "nodeCount": 3, "diskSizeGB": 40.0}
    assert region["readOnlySpecs"]["instanceSize"] == "M40"
    assert region["autoScaling"] == {"compute": {"enabled": False}}
    assert before == specs()  # what was read is not changed


def test_another_storage_is_for_every_node() -> None:
    change = resized(specs(), disk_gb=80)

    (region,) = change["replicationSpecs"][0]["regionConfigs"]
    assert region["analyticsSpecs"] == {"instanceSize": "M40", "nodeCount": 1, "diskSizeGB": 80}
    assert sizes(change["replicationSpecs"]) == [("M30", 80.0)]


def test_a_cluster_of_several_shards_and_regions_has_all_of_them_resized() -> None:
    change = resized([*specs(), *specs("M50")], tier="M60")

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
        resized(before, tier, disk_gb)
