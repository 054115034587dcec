"""What Atlas would refuse, or do otherwise than it is meant, is refused before it is asked."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.atlas.test_preconditions import OUTAGE, cluster
from tests.wording import mentions

from brownout.atlas.answers import AtlasCluster, AtlasEvent, MaintenanceWindow
from brownout.atlas.objections import (
    State,
    of_change,
    of_maintenance,
    of_outage,
    of_pause,
    of_resize,
)
from brownout.atlas.preconditions import of_state
from brownout.atlas.sizes import Size

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
GOOD = State(cluster(), False, None)
WINDOW = MaintenanceWindow(day_of_week=3, startASAP=False)


def spread(*nodes: int) -> AtlasCluster:
    """A cluster with so many electable nodes in each of the regions R1, R2, …"""
    regions = [
        {
            "providerName": "AWS",
            "regionName": f"R{number}",
            "electableSpecs": {"instanceSize": "M30", "nodeCount": count},
        }
        for number, count in enumerate(nodes, 1)
    ]
    return cluster(replication_specs=[{"id": "1", "regionConfigs": regions}])


def event(name: str, ago_s: float) -> AtlasEvent:
    return AtlasEvent(id="1", event_type_name=name, created=NOW - timedelta(seconds=ago_s))


def scaling(**kinds: bool) -> AtlasCluster:
    found = cluster()
    (spec,) = found.replication_specs
    spec["regionConfigs"][0]["autoScaling"] = {k: {"enabled": v} for k, v in kinds.items()}
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": cluster("M0")},
        {"cluster": cluster("FLEX")},
        {"cluster": cluster(paused=True)},
        {"pending": True},
        {"outage": OUTAGE},
    ],
)
def test_nothing_is_asked_of_a_cluster_in_a_bad_state(change: dict[str, Any]) -> None:
    bad = replace(GOOD, **change)
    (state,) = of_state(bad.cluster, bad.pending, bad.outage)
    for found in (
        of_change(bad),
        of_resize(bad, Size("M40")),
        of_outage(bad, [], True, NOW),
        of_pause(bad, NOW),
        of_maintenance(bad, WINDOW),
    ):
        (only,) = found
        assert state in only


def test_nothing_stands_against_a_good_cluster() -> None:
    assert of_change(GOOD) == []
    assert of_resize(GOOD, Size("M40", 80.0)) == []
    assert of_outage(replace(GOOD, cluster=spread(1, 1, 1)), ["R1"], False, NOW) == []
    assert of_pause(GOOD, NOW) == []
    assert of_maintenance(GOOD, WINDOW) == []


@pytest.mark.parametrize(
    ("kinds", "size", "words"),
    [
        ({"compute": True}, Size("M40"), ["Atlas scales its tier by itself in US_EAST_1"]),
        ({"diskGB": True}, Size(disk_gb=80.0), ["Atlas scales its storage by itself in US_EAST_1"]),
        ({"diskGB": True}, Size("M40"), []),
        ({"compute": False}, Size("M40"), []),
    ],
)
def test_what_atlas_scales_by_itself_is_not_resized(
    kinds: dict[str, bool], size: Size, words: list[str]
) -> None:
    found = of_resize(replace(GOOD, cluster=scaling(**kinds)), size)

    assert len(found) == len(words)
    assert all(word in each for word, each in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("nodes", "cut", "stays"),
    [((1, 1, 1), ["R1"], True), ((2, 1), ["R1"], False), ((3,), ["R1"], False),
     ((2, 2, 1), ["R1"], True), ((2, 2), ["R1"], False), ((2, 2, 1), ["R1", "R3"], False)],
)  # fmt: skip
def test_an_outage_leaves_a_majority_unless_that_is_meant(
    nodes: tuple[int, ...], cut: list[str], stays: bool
) -> None:
    state = replace(GOOD, cluster=spread(*nodes))

    assert (of_outage(state, cut, False, NOW) == []) is stays
    assert of_outage(state, cut, True, NOW) == []


def test_an_unknown_region_is_named_with_those_that_there_are() -> None:
    (found,) = of_outage(replace(GOOD, cluster=spread(1, 1, 1)), ["MOON"], False, NOW)

    assert mentions(found, "MOON", "R1, R2, R3")


def test_what_was_just_over_has_to_wait() -> None:
    outage = replace(GOOD, cluster=spread(1, 1, 1), events=[event("OUTAGE_SIMULATION_OVER", 299)])
    resume = replace(GOOD, events=[event("CLUSTER_RESUMED", 3599), event("CREATED", 5)])

    assert of_outage(outage, ["R1"], False, NOW) == [
        "an outage ended 299 s ago, Atlas wants 5 min between two"
    ]
    assert of_outage(outage, ["R1"], False, NOW + timedelta(seconds=1)) == []
    (found,) = of_pause(resume, NOW)
    assert "resumed 3599 s ago, Atlas wants it to run 60 min first" in found
    assert of_pause(resume, NOW + timedelta(seconds=1)) == []


def test_nvme_is_not_paused_and_maintenance_wants_a_window() -> None:
    (nvme,) = of_pause(replace(GOOD, cluster=cluster("M40_NVME")), NOW)
    (bare,) = of_maintenance(GOOD, MaintenanceWindow(startASAP=False))
    (told,) = of_maintenance(GOOD, MaintenanceWindow(day_of_week=1, startASAP=True))

    assert "M40_NVME has its data on NVMe" in nvme
    assert "no maintenance window" in bare
    assert "at once already" in told
