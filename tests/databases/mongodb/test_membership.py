"""The next configuration of a set, and every reason not to have it."""

from typing import Any

import pytest
from tests.wording import mentions

from brownout.databases.mongodb import membership
from brownout.databases.mongodb.view import View
from brownout.inventory.model import Node

NODES = {f"n{i}": Node(name=f"n{i}", address=f"db{i}:27017", rack=f"r{i % 2}") for i in range(1, 9)}
ALL = {node.address for node in NODES.values()}


def config(*names: str, **changes: dict[str, Any]) -> dict[str, Any]:
    """Return a set of these members; `changes` are other settings of one, by its name."""
    members = [
        {**membership.first_entry(number, NODES[name]), "votes": 1, "priority": 1}
        | changes.get(name, {})
        for number, name in enumerate(names)
    ]
    return {"_id": "rs", "version": 4, "term": 2, "members": members, "settings": {"x": 1}}


THREE = config("n1", "n2", "n3")


def test_a_new_member_has_no_say_a_number_of_its_own_and_its_rack_as_a_tag() -> None:
    after = membership.added(config("n1", "n3"), NODES["n4"])

    assert after is not None
    assert (after["version"], after["settings"]) == (5, {"x": 1})
    assert after["members"][-1] == {
        **{"_id": 2, "host": "db4:27017", "tags": {"rack": "r0"}},
        **{"votes": 0, "priority": 0},
    }


def test_who_was_removed_comes_back_as_it_was_but_without_a_say() -> None:
    before = {**THREE["members"][2], "priority": 5, "hidden": False, "_id": 2}
    after = membership.added(config("n1", "n2"), NODES["n3"], before)

    assert after is not None
    back = membership.entry_of(after, NODES["n3"])
    assert back is not None
    assert back["hidden"] is False
    assert membership.say_of(back) == {"votes": 0, "priority": 0}


def test_each_step_is_nothing_where_it_was_made_already() -> None:
    assert membership.added(THREE, NODES["n3"]) is None
    assert membership.removed(THREE, NODES["n4"]) is None
    assert membership.given_say(THREE, NODES["n3"], votes=1, priority=1) is None


def test_a_say_changes_nobody_elses() -> None:
    after = membership.given_say(THREE, NODES["n2"], votes=0, priority=0)

    assert after is not None
    assert [membership.say_of(m)["votes"] for m in after["members"]] == [1, 0, 1]
    assert membership.voters(after) == ["db1:27017", "db3:27017"]


def test_a_member_goes_and_the_others_keep_their_numbers() -> None:
    after = membership.removed(THREE, NODES["n2"])

    assert after is not None
    assert [member["_id"] for member in after["members"]] == [0, 2]


def test_a_member_cannot_be_added_again() -> None:
    assert membership.of_add(THREE, NODES["n4"]) == []
    assert membership.of_add(THREE, NODES["n3"]) == [
        "node `n3`: found a member of the set, wanted a node outside it"
    ]


def test_nothing_is_resized_while_a_member_copies_all_data() -> None:
    views = [
        View("n1", "db1:27017", {"x": 1}, {"myState": 1}),
        View("n4", "db4:27017", {"x": 1}, {"myState": 5}),
    ]

    assert membership.of_copying(views[:1]) == []
    assert membership.of_copying(views) == [
        "the set: found n4 copying all data, wanted no initial sync"
    ]


@pytest.mark.parametrize(
    ("before", "leaves", "down", "objection"),
    [
        (THREE, "n3", [], ""),
        (THREE, "n4", [], "node `n4`: found no member of the set, wanted one"),
        (
            config("n1", "n2", n2={"votes": 0, "priority": 0}),
            *("n1", []),
            "node `n1`: found the last voter, and no set is without one",
        ),
        (
            config("n1", "n2"),
            *("n2", []),
            "without `n2`: found 1 copy of the data, wanted at least 2",
        ),
        (
            THREE,
            *("n3", ["n2"]),
            "without `n3`: found 1 of 2 voters in service, wanted a majority",
        ),
        (
            config("n1", "n2", "n3", n2={"priority": 0}, n3={"priority": 0}),
            *("n1", []),
            "without `n1`: found no member in service that may become primary",
        ),
        (
            config("n1", "n2", "n3", n3={"arbiterOnly": True, "priority": 0}),
            *("n3", []),
            "node `n3`: found an arbiter, which holds no data, wanted a member",
        ),
    ],
)
def test_a_member_is_removed_only_where_a_set_stays_that_can_do_without(
    before: dict[str, Any], leaves: str, down: list[str], objection: str
) -> None:
    healthy = ALL - {NODES[name].address for name in down}

    found = membership.of_remove(before, NODES[leaves], healthy)

    assert found == ([objection] if objection else [])


@pytest.mark.parametrize(
    ("node", "value", "objection"),
    [
        ("n3", {"votes": 0, "priority": 0}, ""),
        ("n3", {"votes": 1, "priority": 2.5}, ""),
        ("n3", {"votes": 1, "priority": 1}, ""),
        ("n3", {"votes": 0, "priority": 1}, "who may become primary needs a vote"),
        ("n4", {"votes": 1, "priority": 1}, "`n4`"),
        ("n3", {"votes": 2, "priority": 1}, "wanted votes 0 or 1 and priority 0 to 1000"),
        ("n3", {"votes": True, "priority": 1}, "wanted votes 0 or 1 and priority 0 to 1000"),
        ("n3", {"votes": 1, "priority": 1001}, "wanted votes 0 or 1 and priority 0 to 1000"),
        ("n3", {"votes": 1}, "wanted votes 0 or 1 and priority 0 to 1000"),
        ("n3", 1, "wanted votes 0 or 1 and priority 0 to 1000"),
    ],
)
def test_a_say_is_checked_before_the_set_is_asked(node: str, value: Any, objection: str) -> None:
    found = membership.of_say(THREE, NODES[node], value, ALL)

    assert bool(found) is bool(objection)
    assert not found or (objection in found[0] and len(found) == 1)


def test_the_last_voter_keeps_its_vote() -> None:
    alone = config("n1", "n2", n2={"votes": 0, "priority": 0})

    (last,) = membership.of_say(alone, NODES["n1"], {"votes": 0, "priority": 0}, ALL)
    assert mentions(last, "votes_and_priority", "`n1`", "last voter")


def test_a_set_has_seven_voters_at_most() -> None:
    eight = config(*NODES, n8={"votes": 0, "priority": 0})

    (found,) = membership.of_say(eight, NODES["n8"], {"votes": 1, "priority": 0}, ALL)

    assert "found 7 other voters, which is as many as a set can have" in found
