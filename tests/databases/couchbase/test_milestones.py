"""When a cluster is back, by what every node says of the bucket."""

from dataclasses import replace
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.couchbase.milestones import judge, signature_of
from brownout.databases.couchbase.view import MOCK, View

NODES = ("c1", "c2", "c3")


def entry(host: str, **changes: Any) -> dict[str, Any]:
    found = {
        "hostname": f"{host}:8091",
        "ports": {"direct": 11210},
        "status": "healthy",
        "clusterMembership": "active",
    }
    return found | changes


def bucket(**changes: Any) -> dict[str, Any]:
    """Return what a node says; `c2={…}` changes what it says of one."""
    rows = changes.pop("rows", [[0, 1], [1, 2], [2, 0], [0, 2]])
    return {
        "rev": 7,
        "nodes": [entry(host, **changes.get(host, {})) for host in NODES],
        "vBucketServerMap": {
            "serverList": [f"{host}:11210" for host in NODES],
            "vBucketMap": rows,
        },
    }


def view(number: int, **changes: Any) -> View:
    return View(f"n{number}", f"c{number}:11210", "7.6.2", bucket(**changes))


def views(**changes: Any) -> list[View]:
    return [view(number, **changes) for number in (1, 2, 3)]


def missing(milestone: Any, found: list[View]) -> list[str]:
    said: list[str] = judge(milestone, found).detail["missing"]
    return said


def test_three_healthy_nodes_with_all_copies_are_whole() -> None:
    for milestone in ("rejoined", "redundant", "whole"):
        assert judge(milestone, views()).reached
    assert view(1).active == {"c1:11210": 2, "c2:11210": 1, "c3:11210": 1}
    assert (view(1).role, view(1).state, view(1).revision) == ("primary", "healthy", 7)


def test_a_node_that_does_not_answer_is_not_back() -> None:
    gone = View("n3", "c3:11210", error="connection refused")
    assert missing("rejoined", [*views()[:2], gone]) == ["n3 is unreachable (connection refused)"]


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"status": "warmup"}, "warmup"),
        ({"clusterMembership": "inactiveFailed"}, "inactiveFailed"),
        ({"hostname": "elsewhere:8091"}, "absent"),
    ],
)
def test_a_node_that_is_no_healthy_member_is_not_back(said: dict[str, Any], state: str) -> None:
    assert missing("rejoined", [view(1), view(2), view(3, c3=said)]) == [f"n3 is {state}"]


def test_a_vbucket_without_an_active_copy_is_not_back_and_without_a_replica_not_redundant() -> None:
    orphan, single = view(1, rows=[[-1, 1], [1, 2]]), view(1, rows=[[0, -1], [1, 2]])
    assert missing("rejoined", [orphan]) == ["1 vbuckets have no active copy, by the map of n1"]
    assert judge("rejoined", [single]).reached
    assert missing("redundant", [single]) == ["1 vbuckets have too few replicas, by the map of n1"]


def test_a_node_that_is_not_in_the_inventory_is_told_unless_a_mock_plays_it() -> None:
    two = views()[:2]
    assert judge("redundant", two).reached
    assert missing("whole", two) == [
        f"c3:11210 is a node, but not in the inventory, by {name}" for name in ("n1", "n2")
    ]
    mock = replace(view(1), implementation=MOCK)
    assert judge("whole", [mock]).reached
    failed = replace(view(1, c2={"clusterMembership": "inactiveFailed"}), implementation=MOCK)
    assert missing("whole", [failed]) == ["c2:11210 is inactiveFailed, by n1"]


def test_the_signature_changes_with_the_map() -> None:
    later = [replace(each, bucket=each.bucket | {"rev": 8}) for each in views()]
    assert signature_of(views()) != signature_of(later)


def test_a_milestone_that_is_none_is_refused() -> None:
    wrong: Any = "well"
    with pytest.raises(ConfigurationError, match="wanted rejoined, redundant or whole"):
        judge(wrong, views())
