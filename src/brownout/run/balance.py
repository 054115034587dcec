"""`balance.csv`: what each node holds and has still to move, about once a second.

    t,node,records,bytes,to_move,received
    21.4,n6,1034,1058816,812,1034

Written while a cluster is resized. A number that a node does not tell is -1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from brownout.run.csvfile import read_rows

__all__ = ["HEADER", "Balance", "Holding", "balance_lines", "read_balance"]

HEADER = ("t", "node", "records", "bytes", "to_move", "received")
_NOT_TOLD = -1


@dataclass(frozen=True, slots=True)
class Holding:
    """What one node holds now, as it says itself.

    `records` and `bytes` count every copy, those of other nodes' records too. `to_move` is what is
    still to be sent to it or by it (`unit` of the adapter: `partitions` or `bytes`), 0 for nothing
    and None where it cannot tell. `received` counts the records that rebalancing brought it since
    it started, None where the database does not count them.
    """

    records: int
    bytes: int
    to_move: int | None = None
    received: int | None = None


class Balance(NamedTuple):
    """What every node that answered held `t` seconds after the schedule's start."""

    t: float
    nodes: Mapping[str, Holding]


def balance_lines(t: float, nodes: Mapping[str, Holding]) -> str:
    """Return one look at the nodes as lines of the file."""
    rows = [
        (f"{t:.1f}", name, str(held.records), str(held.bytes), _cell(held.to_move),
         _cell(held.received))
        for name, held in nodes.items()
    ]  # fmt: skip
    return "".join(",".join(row) + "\n" for row in rows)


def read_balance(path: Path) -> list[Balance]:
    """Return every look at the nodes, in order; none where the file is not there.

    Raises `RunDirectoryError` for what is not of this shape.
    """
    looks: dict[float, dict[str, Holding]] = {}
    for t, node, *numbers in read_rows(path, HEADER):
        records, held, to_move, received = (int(float(number)) for number in numbers)
        holding = Holding(records, held, _number(to_move), _number(received))
        looks.setdefault(float(t), {})[node] = holding
    return [Balance(t, nodes) for t, nodes in looks.items()]


def _cell(number: int | None) -> str:
    return str(_NOT_TOLD if number is None else number)


def _number(number: int) -> int | None:
    return None if number < 0 else number
