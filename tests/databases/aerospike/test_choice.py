"""Who is meant by a target."""

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.databases.adapter import Member
from brownout.databases.aerospike.choice import choose
from brownout.inventory.model import Node

NODES = [Node(name=f"n{n}", address=f"h{n}:3000", rack=f"r{n % 2}") for n in range(1, 6)]


def members(sick: str = "") -> list[Member]:
    """As `view.member_of` has them: who is not in the cluster has no role."""
    roles = {**dict.fromkeys(("n1", "n2", "n3", "n4"), "secondary"), "n5": "primary"}
    roles[sick] = "unknown"
    return [Member(n.name, n.address, roles[n.name], "in cluster", n.name != sick) for n in NODES]


def chosen(select: str, seed: int = 1, sick: str = "") -> list[str]:
    return [node.name for node in choose(select, seed, NODES, lambda: members(sick))]


def test_a_name_a_role_and_a_draw() -> None:
    assert chosen("n3") == ["n3"]
    assert chosen("primary") == ["n5"]
    assert chosen("secondary", 7) == chosen("secondary", 7) != ["n5"]
    assert len(chosen("random")) == 1


def test_a_rack_is_all_its_healthy_nodes() -> None:
    assert chosen("rack=r1") == ["n1", "n3", "n5"]
    assert chosen("rack=r1", sick="n3") == ["n1", "n5"]


def test_a_rack_is_drawn_by_the_seed() -> None:
    drawn = {tuple(chosen("rack", seed)) for seed in range(20)}

    assert drawn == {("n1", "n3", "n5"), ("n2", "n4")}
    assert chosen("rack", 3) == chosen("rack", 3)


@pytest.mark.parametrize(
    ("select", "says"), [("n9", "wanted a node"), ("rack=r7", "wanted one of r0, r1")]
)
def test_who_is_not_there_is_an_error_of_the_input(select: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        chosen(select)


def test_without_racks_in_the_inventory_none_can_be_meant() -> None:
    bare = [node.model_copy(update={"rack": ""}) for node in NODES]
    with pytest.raises(ConfigurationError, match=naming("target", "`rack`")):
        choose("rack", 1, bare, members)


def test_a_role_that_nobody_has_now_is_an_error_of_the_cluster() -> None:
    with pytest.raises(ClusterError, match=naming("primary", "n1")):
        chosen("primary", sick="n5")
