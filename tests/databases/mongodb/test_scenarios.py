"""What a replica set can be put through, and why not."""

from pathlib import Path

import pytest
from tests.databases.supports import supports
from tests.wording import mentions

from brownout.databases.mongodb import scenarios
from brownout.databases.mongodb.scenarios import topology
from brownout.databases.mongodb.view import View
from brownout.inventory.model import Cluster, Node, ProcessSpec


def node(number: int, hosted: bool, rack: str = "") -> Node:
    host = ProcessSpec(pid_file=Path(f"/run/n{number}.pid"), command=("mongod",))
    address = f"db{number}:27017"
    return Node(name=f"n{number}", address=address, host=host if hosted else None, rack=rack)


def cluster(count: int, hosted: bool = True, racks: str = "") -> Cluster:
    """Return a set of `count`; `racks` has a letter for each one's rack."""
    nodes = [node(number, hosted, racks[number : number + 1]) for number in range(count)]
    return Cluster(name="c", database="mongodb", environment="test", nodes=tuple(nodes))


@pytest.mark.parametrize(
    "scenario",
    [
        *("kill", "stop", "pause", "wipe", "start", "resume", "reboot", "drain", "stepdown"),
        *("node-kill", "kill_node", "step_down_primary", "step-down"),
        *("add", "add_node", "remove", "remove_node", "rolling"),
        *("votes_and_priority", "oplog_mb", "oplog-mb"),
    ],
)
def test_a_set_of_three_with_hosts_can_do_everything(scenario: str) -> None:
    assert supports(scenario, cluster(3), scenarios.support).ok


def test_an_unknown_scenario_is_unsupported_and_the_known_ones_are_named() -> None:
    answer = supports("rebalance", cluster(3), scenarios.support)

    assert not answer.ok
    assert "no scenario `rebalance`; it has add, drain, racks, remove" in answer.reason


@pytest.mark.parametrize(("scenario", "ok"), [("kill", False), ("stepdown", True)])
def test_without_a_host_only_the_database_can_be_told_something(scenario: str, ok: bool) -> None:
    answer = supports(scenario, cluster(3, hosted=False), scenarios.support)

    assert answer.ok is ok
    assert ok or mentions(answer.reason, "`n0`", "`host`")


@pytest.mark.parametrize("scenario", ["wipe", "stepdown"])
def test_one_member_alone_has_nobody_to_take_over(scenario: str) -> None:
    answer = supports(scenario, cluster(1), scenarios.support)
    assert "take over" in answer.reason


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("replication_factor", "a replica set has as many copies as members: add or remove one"),
        ("migration_speed", "MongoDB has no supported throttle of an initial sync"),
    ],
)
def test_what_a_replica_set_has_not_is_unsupported_with_the_reason(
    setting: str, reason: str
) -> None:
    answer = supports(setting, cluster(3), scenarios.support)

    assert not answer.ok
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("racks", "reason"),
    [
        ("aabbc", ""),
        ("abc", ""),
        ("aab", "1 of 3 members"),
        ("aabb", "2 of 4 members"),
        ("aaa", "in 1 racks (`rack`), wanted at least 2"),
        ("", "in 0 racks (`rack`), wanted at least 2"),
    ],
)
def test_a_rack_may_be_lost_where_any_one_leaves_a_majority(racks: str, reason: str) -> None:
    answer = supports("racks", cluster(len(racks) or 3, racks=racks), scenarios.support)

    assert answer.ok is not bool(reason)
    assert reason in answer.reason


def test_two_members_cannot_be_restarted_in_turn() -> None:
    assert "while one of 2 members is down the rest is not a majority" in (
        supports("rolling", cluster(2), scenarios.support).reason
    )


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        (
            {"msg": "isdbgrid"},
            "n1 is a mongos: name it in `connection.hosts`, and the shards' members as nodes, each "
            "with its `shard`",
        ),
        ({"isWritablePrimary": True}, "n1 is a standalone mongod, not of a replica set"),
        ({"setName": "rs"}, ""),
        ({"isreplicaset": True}, ""),
        ({}, ""),
    ],
)
def test_only_a_replica_set_will_do(hello: dict[str, object], reason: str) -> None:
    answer = topology([View("n1", "db1:27017", hello)])

    assert (answer.ok, answer.reason) == (not reason, reason)
