"""Which of a container's processes is the node's."""

import pytest

from brownout.machine.kubernetes.location import _roots
from brownout.machine.processes import Process


def _process(pid: int, parent: int) -> Process:
    return Process(pid, 1, frozenset("S"), "stoned", "", (), 0.0, 0.0, parent)


@pytest.mark.parametrize(
    ("parents", "roots"),
    [
        ({7: 1}, [7]),
        ({7: 1, 20: 7, 21: 7, 30: 21}, [7]),  # a server's own children have its name
        ({7: 1, 8: 1}, [7, 8]),  # two servers: which one is not to be told
    ],
)
def test_a_process_that_another_one_of_its_name_started_does_not_count(
    parents: dict[int, int], roots: list[int]
) -> None:
    processes = [_process(pid, parent) for pid, parent in parents.items()]
    assert [one.pid for one in _roots(processes)] == roots
