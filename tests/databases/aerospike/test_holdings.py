"""What a node holds, by its version and storage."""

import pytest

from brownout.databases.aerospike.holdings import holding_of
from brownout.databases.aerospike.view import View
from brownout.run.balance import Holding

MOVES = (
    "migrate_tx_partitions_remaining=3;migrate_rx_partitions_remaining=4;migrate_record_receives=9"
)


def view(numbers: str, key: str = "ABC", **others: str) -> View:
    told = {"statistics": f"cluster_key={key}", "namespace/test": numbers}
    return View("n1", "", told | {f"namespace/{name}": text for name, text in others.items()})


@pytest.mark.parametrize("name", ["data_used_bytes", "device_used_bytes", "memory_used_bytes"])
def test_bytes_are_called_differently(name: str) -> None:
    assert holding_of(view(f"objects=7;{name}=100;{MOVES}")) == Holding(7, 100, 7, 9)


def test_devices_count_before_the_memory_of_their_index() -> None:
    both = f"objects=7;memory_used_bytes=1;device_used_bytes=100;{MOVES}"

    assert holding_of(view(both)) == Holding(7, 100, 7, 9)


def test_namespaces_are_summed_up() -> None:
    text = f"objects=7;data_used_bytes=100;{MOVES}"

    assert holding_of(view(text, cache=text)) == Holding(14, 200, 14, 18)


def test_an_orphan_has_nothing_to_move_and_that_says_nothing() -> None:
    found = holding_of(view(f"objects=7;data_used_bytes=100;{MOVES}", key="0"))

    assert found is not None
    assert found.to_move is None


@pytest.mark.parametrize("numbers", ["", "objects=7", "data_used_bytes=100"])
def test_what_a_node_does_not_say_is_not_zero(numbers: str) -> None:
    assert holding_of(view(numbers)) is None
