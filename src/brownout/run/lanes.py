"""Read `lanes.csv`: a row for each lane in each bucket, its reads and its writes apart."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from brownout.run.columns import Columns, read_columns

__all__ = ["LANE_COLUMNS", "Lane", "LaneKey", "lanes_of", "read_lanes"]

LANE_COLUMNS = ("offered", "ok", "bad", "pending")
Ints = npt.NDArray[np.int64]
#: The columns of a lane by name, a value a bucket of 0.1 s from the schedule's start on.
Lane = Mapping[str, Ints]


class LaneKey(NamedTuple):
    """A lane's name, and `read` or `write`; a file from before these were told apart has neither.

    Its text is the key of JSON: `127.0.0.1:3000 write`.
    """

    lane: str
    op: str = ""

    def __str__(self) -> str:
        return f"{self.lane} {self.op}".rstrip()


def read_lanes(path: Path) -> dict[LaneKey, Lane]:
    """Return the columns of each lane, in the order of the file; none where there is no file.

    Before its first operation a lane has no rows, and its columns are 0. A torn last line is
    dropped. Raises `RunDirectoryError` for what is not of this shape.
    """
    return lanes_of(*read_columns(path))


def lanes_of(read: Columns) -> dict[LaneKey, Lane]:
    """Return the lanes that stand in a file of which this was read."""
    lanes: dict[LaneKey, Lane] = {}
    for number, label in enumerate(read.labels):
        here = np.flatnonzero(read.columns["lane"] == number)
        buckets = read.columns["bucket"][here]
        columns = {name: np.zeros(int(buckets.max()) + 1, np.int64) for name in LANE_COLUMNS}
        for name, values in columns.items():
            values[buckets] = read.columns[name][here]
        lane, _, op = label.rpartition(",")
        lanes[LaneKey(lane, op)] = columns
    return lanes
