"""Choosing targets: by name, by role, at random with a seed."""

import pytest

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.mongodb.choice import choose

MEMBERS = [
    Member("n1", "db1:1", "secondary", "SECONDARY", True),
    Member("n2", "db2:1", "primary", "PRIMARY", True),
    Member("n3", "db3:1", "secondary", "SECONDARY", True),
    Member("n4", "db4:1", "other", "STARTUP2", False),
]
RACKS = {"n1": "r1", "n2": "r2", "n3": "r1", "n4": "r2"}


@pytest.mark.parametrize(
    ("select", "wanted"),
    [
        ("n4", ["n4"]),
        ("primary", ["n2"]),
        ("role=primary", ["n2"]),
        ("role=secondary", ["n1", "n3"]),
        ("rack=r1", ["n1", "n3"]),
        ("rack=r2", ["n2"]),
    ],
)
def test_a_name_and_a_role_mean_what_they_say(select: str, wanted: list[str]) -> None:
    assert choose(select, MEMBERS, 1, RACKS) == wanted


@pytest.mark.parametrize(
    ("select", "among"), [("secondary", {"n1", "n3"}), ("random", {"n1", "n2", "n3"})]
)
def test_a_seed_decides_among_the_members_that_serve(select: str, among: set[str]) -> None:
    chosen = [tuple(choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]

    assert chosen == [tuple(choose(select, MEMBERS, seed, RACKS)) for seed in range(40)]
    assert {name for (name,) in chosen} == among


def test_an_unknown_target_names_the_choices() -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose("master", MEMBERS, 1, RACKS)

    assert str(caught.value) == (
        "target: found 'master', wanted a node (n1, n2, n3, n4), primary, secondary, random, "
        "role=primary or role=secondary, rack or rack= one of r1, r2"
    )


@pytest.mark.parametrize("select", ["primary", "role=primary"])
def test_a_role_that_nobody_has_now_says_what_they_are(select: str) -> None:
    with pytest.raises(ClusterError, match="no member is primary now: n1 is SECONDARY"):
        choose(select, MEMBERS[:1], 1, {})


def test_a_rack_is_drawn_by_the_seed_and_then_it_is_everybody_in_it_who_serves() -> None:
    chosen = {tuple(choose("rack", MEMBERS, seed, RACKS)) for seed in range(40)}

    assert chosen == {("n1", "n3"), ("n2",)}


@pytest.mark.parametrize("select", ["rack", "rack=r1", "rack=r9"])
def test_a_rack_that_no_inventory_names_is_no_target(select: str) -> None:
    with pytest.raises(ConfigurationError, match=f"target: found '{select}', wanted a node"):
        choose(select, MEMBERS, 1, {} if select != "rack=r9" else RACKS)


def test_a_rack_where_nobody_serves_now_says_what_they_are() -> None:
    with pytest.raises(ClusterError, match="no member in rack r2 serves now: n4 is STARTUP2"):
        choose("rack=r2", MEMBERS[3:], 1, RACKS)
