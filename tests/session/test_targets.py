"""Which nodes a run breaks by a role, for the undos that name the role."""

from brownout.inventory.model import Node
from brownout.session.targets import Chosen

ONE, TWO = (Node(name=f"n{n}", address=f"127.0.0.1:{n}") for n in (1, 2))


def test_an_undo_by_a_role_means_the_node_that_was_broken_as_that() -> None:
    chosen = Chosen()
    chosen.note("primary", ONE)
    chosen.note("secondary", TWO)
    assert chosen.find("primary", ["n1", "n2"]) == ONE
    assert chosen.find("secondary", ["n1", "n2"]) == TWO


def test_of_two_primaries_the_first_is_undone_first() -> None:
    chosen = Chosen()
    chosen.note("primary", ONE)
    chosen.note("primary", TWO)
    assert chosen.find("primary", ["n1", "n2"]) == ONE
    assert chosen.find("primary", ["n2"]) == TWO


def test_what_is_undone_already_is_still_known_by_its_role() -> None:
    chosen = Chosen()
    chosen.note("primary", ONE)
    assert chosen.find("primary", []) == ONE


def test_a_role_by_which_nothing_was_broken_means_no_node() -> None:
    assert Chosen().find("primary", ["n1"]) is None
