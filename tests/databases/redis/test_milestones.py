"""Milestones: judged from what each node says of itself."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Milestone
from brownout.databases.redis.milestones import judge, lost_with, masters_of, signature_of
from brownout.databases.redis.rejoin import owns_slots
from brownout.databases.redis.view import View, in_words, parse_info, parse_nodes

#: node -> (id, slots, epoch, master)
NODES: dict[str, tuple[str, str, int, str]] = {
    "s1n1": ("a1", "0-8191", 1, ""),
    "s1n2": ("a2", "", 1, "a1"),
    "s2n1": ("b1", "8192-16383", 2, ""),
    "s2n2": ("b2", "", 2, "b1"),
}
SHARDS = {name: name[:2] for name in NODES}


def listing(of: str, nodes: dict[str, tuple[str, str, int, str]], flags: dict[str, str]) -> str:
    lines = []
    for name, (id, slots, epoch, master) in nodes.items():
        role = "slave" if master else "master"
        own = "myself," if name == of else ""
        more = f",{flags[name]}" if name in flags else ""
        lines.append(f"{id} {name}:6379@16379,host {own}{role}{more} {master or '-'} 0 0 {epoch} "
                     f"connected {slots}")  # fmt: skip
    return "\n".join(lines)


def view(
    node: str,
    *,
    nodes: dict[str, tuple[str, str, int, str]] | None = None,
    flags: dict[str, str] | None = None,
    **info: Any,
) -> View:
    said = {"redis_version": "7.0.15", "cluster_state": "ok", "master_link_status": "up"}
    said |= {"master_repl_offset": "5000000", "slave_repl_offset": "5000000", "loading": "0"}
    listed = parse_nodes(listing(node, nodes or NODES, flags or {}))
    return View(node, f"{node}:6379", {**said, **info}, listed)


def silent(node: str) -> View:
    return View(node, f"{node}:6379", error="no answer in time", timed_out=True)


WHOLE = [view(name) for name in NODES]
#: After s1n1 was killed and s1n2 promoted.
PROMOTED = {**NODES, "s1n1": ("a1", "", 1, ""), "s1n2": ("a2", "0-8191", 3, "")}
CROSSED = {**NODES, "s2n2": ("b2", "", 1, "a1")}
STRANGER = {**NODES, "x": ("c1", "", 0, "")}


def with_(other: View) -> list[View]:
    return [other if each.node == other.node else each for each in WHOLE]


def test_a_cluster_is_whole() -> None:
    for milestone in get_args(Milestone):
        found = judge(milestone, WHOLE, SHARDS)
        assert found.reached, found
    assert judge("whole", WHOLE, {}).detail["primaries"] == {"0-8191": "s1n1", "8192-16383": "s2n1"}
    with pytest.raises(ConfigurationError, match="found 'x', wanted rejoined"):
        judge("x", WHOLE, SHARDS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "milestone", "missing"),
    [
        (silent("s1n2"), "rejoined", "s1n2 is unreachable (no answer in time)"),
        (view("s1n2", loading="1"), "rejoined", "s1n2 is LOADING"),
        (view("s1n2", master_link_status="down"), "rejoined", "s1n2 is SYNCING"),
        (view("s1n2", master_sync_in_progress="1"), "rejoined", "s1n2 is SYNCING"),
        (view("s1n1", cluster_state="fail"), "rejoined", "s1n1 is DOWN"),
        (view("s1n2", nodes={"s1n2": ("a2", "", 0, "")}), "rejoined", "s1n2 is ALONE"),
        (view("s1n1", nodes=PROMOTED), "rejoined", "s1n1 is EMPTY"),
        (
            view("s1n2", slave_repl_offset="3000000"),
            "redundant",
            "the replica of s1n1 is 2000000 bytes behind (wanted 1048576)",
        ),
        (view("s2n2", flags={"s1n2": "fail"}), "redundant", "s2n2 sees s1n2 as down"),
        (
            view("s2n2", nodes=PROMOTED),
            "redundant",
            "s2n2 names other masters than they do themselves",
        ),
        (
            view("s2n1", nodes={**NODES, "s2n1": ("b1", "8192-16382", 2, "")}),
            "redundant",
            "the slots 16383 have no master",
        ),
        (view("s2n2", nodes=CROSSED), "redundant", "s2n1 has no replica"),
        (
            view("s2n2", nodes=CROSSED),
            "whole",
            "s2n2 is a replica of s1n1, which is of a shard of another one than 's2'",
        ),
        (
            view("s2n2", nodes=STRANGER),
            "whole",
            "x:6379 is a node of the cluster (as s2n2 says), but not in the inventory",
        ),
        (
            view("s1n1", nodes={**NODES, "s1n1": ("a1", "0-8191 [7->-b1]", 1, "")}),
            "whole",
            "s1n1 moves the slot [7->-b1]",
        ),
    ],
)
def test_what_is_missing_is_said(other: View, milestone: Milestone, missing: str) -> None:
    found = judge(milestone, with_(other), SHARDS)
    assert not found.reached
    assert missing in found.detail["missing"]


def test_what_one_node_alone_suspects_is_nothing_yet() -> None:
    assert judge("whole", with_(view("s2n2", flags={"s1n2": "fail?"})), SHARDS).reached


def test_a_master_by_an_old_epoch_is_none() -> None:
    now = [view(name, nodes=PROMOTED) for name in NODES]
    now[0] = view("s1n1")  # it has just woken up
    assert [view.node for view in masters_of(now)] == ["s1n2", "s2n1"]
    missing = judge("rejoined", now, SHARDS).detail["missing"]
    assert "s1n1 still claims slots by the old epoch 1" in missing


def test_a_master_that_is_down_is_not_to_be_emptied_before_its_replica_is_promoted() -> None:
    assert lost_with({"s1n1"}, WHOLE) == []
    assert lost_with({"s1n2"}, WHOLE) == []
    down = with_(silent("s1n1"))
    (lost,) = lost_with({"s1n1"}, down)
    assert "the slots 0-8191 have no master that answers: no replica is promoted yet" in lost
    assert owns_slots("s1n1:6379", down) == frozenset(range(8192))
    assert owns_slots("s1n2:6379", down) == frozenset()
    assert owns_slots("by-another-name:6379", down) == frozenset(range(8192))
    promoted = [view(name, nodes=PROMOTED) for name in NODES]
    promoted[0] = silent("s1n1")
    assert lost_with({"s1n1"}, promoted) == []
    assert owns_slots("s1n1:6379", promoted) == frozenset()


def test_a_replica_that_lags_or_goes_as_well_is_no_copy() -> None:
    lags = with_(view("s1n2", slave_repl_offset="1"))
    said = ["no other node has all of s1n1's slots 0-8191"]
    assert lost_with({"s1n1"}, lags) == said
    assert lost_with({"s1n1", "s1n2"}, WHOLE) == said
    assert lost_with({"s1n1"}, with_(view("s1n2", master_link_status="down"))) == said


def test_a_signature_changes_with_a_role() -> None:
    assert signature_of(WHOLE) != signature_of([view(name, nodes=PROMOTED) for name in NODES])
    assert signature_of(WHOLE) == signature_of(list(WHOLE))


def test_slots_and_answers_are_read_as_the_server_writes_them() -> None:
    assert in_words(frozenset([1, 2, 3, 7, 9])) == "1-3, 7, 9"
    assert parse_info("# Server\r\nredis_version:7.0\r\n\r\na:b:c\r\n") == {
        "redis_version": "7.0",
        "a": "b:c",
    }
    (entry,) = parse_nodes("id :0@0 myself,master,noaddr - 0 0 5 disconnected 1 3-4 [93->-b]\nx\n")
    assert entry.slots == {1, 3, 4}
    assert (entry.moving, entry.failed, entry.master) == (("[93->-b]",), True, "")
    assert replace(entry, flags=frozenset({"myself"})).failed is False


def test_a_node_that_is_late_to_answer_says_neither_yes_nor_no() -> None:
    found = judge("redundant", [silent(WHOLE[0].node), *WHOLE[1:]], SHARDS)
    assert (found.reached, found.unknown) == (False, True)
    refused = View(WHOLE[0].node, WHOLE[0].address, error="refused")
    assert not judge("redundant", [refused, *WHOLE[1:]], SHARDS).unknown
