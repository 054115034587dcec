"""`primaries.csv`: what each node said, asked by itself, of whether it accepts writes.

    asked,answered,shard,node,primary,election
    21.402,21.403,,n1,1,7fffffff0000000000000005

Seconds since the schedule's start. `primary` is 1 or 0, and -1 where the node gave no answer.
`election` is the database's own name of what made it primary; empty where it is not.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from brownout.run.csvfile import read_rows

__all__ = ["HEADER", "Look", "look_line", "read_primaries"]

HEADER = ("asked", "answered", "shard", "node", "primary", "election")
_WORDS = {True: "1", False: "0", None: "-1"}
_ANSWERS = {1: True, 0: False}


class Look(NamedTuple):
    """One answer of one node: it was so at some moment from `asked` to `answered`.

    `primary` is None without an answer; then `answered` is when the wait was given up.
    """

    asked: float
    answered: float
    shard: str
    node: str
    primary: bool | None
    election: str = ""


def look_line(look: Look) -> str:
    """Return a look as a line of the file."""
    line = io.StringIO()
    row = (f"{look.asked:.3f}", f"{look.answered:.3f}", look.shard, look.node,
           _WORDS[look.primary], look.election)  # fmt: skip
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()


def read_primaries(path: Path) -> Sequence[Look]:
    """Return every look, in the order of their answers; none where the file is not there.

    Raises `RunDirectoryError` for what is not of this shape.
    """
    looks = [
        Look(float(asked), float(answered), shard, node, _ANSWERS.get(int(float(state))), election)
        for asked, answered, shard, node, state, election in read_rows(path, HEADER)
    ]
    return sorted(looks, key=lambda look: look.answered)
