"""A dry run shows each call that an action would make, and makes none."""

import json
from typing import Any

import pytest
from tests.atlas.recorded_api import PROJECT, SECRET
from tests.atlas.test_calls import URL, Make

from brownout.actions import atlas
from brownout.atlas.rehearsal import ACTIONS, rehearsed, somewhere

OWN = f"{URL}/api/atlas/v2/groups/{PROJECT}/clusters/orders"


def test_every_action_has_one() -> None:
    assert set(ACTIONS) == set(atlas.__all__)


@pytest.mark.parametrize(
    ("action", "arguments", "sent", "body"),
    [
        ("test_failover", {}, f"POST {OWN}/restartPrimaries", None),
        (
            "resize_cluster",
            {"tier": "M40", "disk_gb": 80},
            f"PATCH {OWN}",
            {"replicationSpecs": "as they are, with M40 with 80 GB"},
        ),
        (
            "start_outage",
            {"regions": "US_EAST_1"},
            f"POST {OWN}/outageSimulation",
            {
                "outageFilters": [
                    {
                        "cloudProvider": "{its provider}",
                        "regionName": "US_EAST_1",
                        "type": "REGION",
                    }
                ]
            },
        ),
        ("end_outage", {}, f"DELETE {OWN}/outageSimulation", None),
        ("pause_cluster", {}, f"PATCH {OWN}", {"paused": True}),
        ("resume_cluster", {}, f"PATCH {OWN}", {"paused": False}),
    ],
)
def test_what_is_sent_is_shown_whole(
    spec_of: Make, action: str, arguments: dict[str, Any], sent: str, body: Any
) -> None:
    lines = list(rehearsed(action, arguments, spec_of(URL)))

    assert sent in lines
    assert [json.loads(line) for line in lines if line.startswith("  {")] == [body] * bool(body)
    assert SECRET not in "\n".join(lines)


def test_what_is_asked_and_what_puts_it_back_is_shown_too(spec_of: Make) -> None:
    lines = list(rehearsed("start_outage", {"regions": "primary"}, spec_of(URL)))

    assert f"asks GET {OWN}/status" in lines
    assert f"asks GET {OWN}/outageSimulation until it is done" in lines
    assert lines[-1] == f"put back by DELETE {OWN}/outageSimulation"
    assert "  by a login with the role Project Cluster Resilience Tester" in lines


def test_of_a_lab_that_is_down_the_places_are_shown() -> None:
    lines = list(rehearsed("pause_cluster", {}, somewhere("lab-atlas")))

    own = "http://127.0.0.1:{port}/api/atlas/v2/groups/{groupId}/clusters/lab-atlas"
    assert f"PATCH {own}" in lines
