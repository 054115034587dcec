"""Racks: what the inventory says against what the servers say."""

import pytest

from brownout.databases.aerospike.racks import command, problem, rack_ids
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Node

TWO = "rack_1=A3,A1:rack_2=A4,A2"
REFUSED = "ERROR:25:enterprise only"


def nodes(*racks: str) -> list[Node]:
    return [
        Node(name=f"n{n}", address=f"127.0.0.1:300{n}", rack=rack)
        for n, rack in enumerate(racks, start=1)
    ]


def views(answer: str, factor: str = "2") -> list[View]:
    numbers = f"replication-factor={factor}"
    return [
        View(f"n{n}", "", {"node": f"A{n}", command("test"): answer, "namespace/test": numbers})
        for n in range(1, 5)
    ]


def test_the_servers_say_who_is_on_which_rack() -> None:
    assert rack_ids(TWO) == {"A1": "1", "A2": "2", "A3": "1", "A4": "2"}
    assert rack_ids(f"{TWO}:roster_rack_9=A1") == rack_ids(TWO)


def test_a_rack_can_be_lost_where_both_agree_whatever_the_names_are() -> None:
    assert problem(nodes("left", "right", "left", "right"), views(TWO), "test") == ""


@pytest.mark.parametrize(
    ("racks", "answer", "factor", "says"),
    [
        (("r1", "r2", "r1", "r2"), REFUSED, "2", "the Community Edition has no racks"),
        (("r1", "r2", "r1", "r2"), "", "2", "n1, n2, n3, n4 does not say"),
        (("r1", "r2", "r1", ""), TWO, "2", "the inventory gives n4 no `rack`"),
        (("r1", "r1", "r2", "r2"), TWO, "2", "racks are not those of the servers: n1 on r1 and"),
        (("r1", "r2", "r3", "r2"), TWO, "2", "racks are not those of the servers"),
        (("r1", "r1", "r1", "r1"), "rack_1=A1,A2,A3,A4", "2", "found 1 rack, wanted 2 or more"),
        (("r1", "r2", "r1", "r2"), "rack_0=A1,A3:rack_2=A2,A4", "2", "a rack-id of its own"),
        (("r1", "r2", "r1", "r2"), TWO, "1", "replication factor: found 1, wanted 2 or more"),
    ],
)
def test_otherwise_it_is_said_why_not(
    racks: tuple[str, ...], answer: str, factor: str, says: str
) -> None:
    assert says in problem(nodes(*racks), views(answer, factor), "test")
