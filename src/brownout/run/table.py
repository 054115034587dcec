"""Counts in buckets of 0.1 s: what the generator's files hold, as numpy arrays.

A `Table` is one view (by completion or by intended start); a `Series` is both views of one run.
Reading files is elsewhere (`series`), and so is every judgement (`brownout.measure`).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "BUCKETS_PER_S",
    "OUTCOME_COLUMNS",
    "SERIES_COLUMNS",
    "WIDTH_S",
    "CountArray",
    "Key",
    "Series",
    "Table",
    "added",
    "bucket_of",
    "frozen",
    "identity_violations",
    "in_scope",
]

CountArray = npt.NDArray[np.number[Any]]
#: A stream and an operation, e.g. `("app", "read")`.
Key = tuple[str, str]

BUCKETS_PER_S = 10
WIDTH_S = 1 / BUCKETS_PER_S
#: The operations that change nothing.
_READS = ("read", "batch")
_ENDS = ("ok", "late", "failed", "in_doubt", "shed", "missed")
OUTCOME_COLUMNS = ("offered", *_ENDS)
SERIES_COLUMNS = (*OUTCOME_COLUMNS, "retried", "pending", "max_us")


def bucket_of(t: float) -> int:
    """Return the number of the bucket that `t` seconds lies in, forgiving float noise."""
    return math.floor(t * BUCKETS_PER_S + 1e-6)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One view of a load: `columns["ok"][i, j]` counts bucket `i` of `keys[j]`.

    Bucket `i` begins at `i / 10` seconds; there are no gaps. The arrays are read-only, and as
    narrow as what is in them: sums of several may need a wider type, which `added` gives them.
    """

    keys: tuple[Key, ...]
    columns: Mapping[str, CountArray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @property
    def end(self) -> float:
        """Seconds from the schedule's start to the end of the last bucket."""
        return len(self) / BUCKETS_PER_S

    def total(self, scope: str, *names: str, here: slice = slice(None)) -> npt.NDArray[Any]:
        """Return the sum of the columns `names` over a scope, one number a bucket `here`."""
        chosen = [j for j, key in enumerate(self.keys) if in_scope(scope, key)]
        if not chosen:
            return np.zeros(len(self), np.int64)[here]
        # A column at a time is faster than a row's few numbers.
        return added(self.columns[name][here, j] for name in names for j in chosen)


def added(arrays: Iterable[CountArray]) -> npt.NDArray[Any]:
    """Return the sum of arrays of the same shape, at least one, in a type that has room for it."""
    columns = list(arrays)
    whole = all(column.dtype.kind == "i" for column in columns)
    total: npt.NDArray[Any] = columns[0].astype(np.int64 if whole else np.float64)
    for column in columns[1:]:
        total += column
    return total


def in_scope(scope: str, key: Key) -> bool:
    """Say whether a stream's operation counts in `scope`: total, read, write or a stream, or the
    reads or writes of a stream, as `orders/write`."""
    scope, _, part = scope.partition("/")
    if part and not in_scope(part, key):
        return False
    stream, operation = key
    if scope == "total":
        return True
    if scope in ("read", "write"):
        return (operation in _READS) == (scope == "read")
    return stream == scope


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Both views of one load.

    `closed` names the streams in closed loop; all others follow a schedule. The outcomes lag:
    a bucket is in them once everything that was to start in it has ended. A series of another
    tool may be `ok_only`: operations that were not served are not in it.
    """

    completion: Table
    outcomes: Table
    closed: frozenset[str] = field(default_factory=frozenset)
    ok_only: bool = False

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every stream and operation, in the files' order."""
        return self.completion.keys

    @property
    def scopes(self) -> tuple[str, ...]:
        """Every scope this load has: total, read and write where there are any, each stream."""
        kinds = [s for s in ("read", "write") if any(in_scope(s, key) for key in self.keys)]
        return ("total", *kinds, *dict.fromkeys(stream for stream, _ in self.keys))

    def parts(self, scope: str) -> Mapping[str, str]:
        """Return the scopes of the reads and of the writes of `scope` if it has both."""
        parts = {
            op: op if scope == "total" else f"{scope}/{op}"
            for op in ("read", "write")
            if any(in_scope(scope, key) and in_scope(op, key) for key in self.keys)
        }
        return parts if len(parts) == 2 else {}

    def is_open(self, scope: str) -> bool:
        """Say whether every stream of `scope` follows a schedule."""
        return not any(in_scope(scope, key) and key[0] in self.closed for key in self.keys)


def identity_violations(series: Series) -> int:
    """Count the rows whose sums do not agree; 0 unless the generator has a bug.

    By completion, offered = the six ends + what is pending more than a bucket before; by
    intended start, offered = the six ends.
    """
    done, born = series.completion, series.outcomes
    broken = 0
    if len(done):
        ends = added(done.columns[end] for end in _ENDS)
        pending = done.columns["pending"].astype(np.int64)
        change = np.diff(pending, axis=0, prepend=np.zeros((1, len(done.keys)), np.int64))
        broken += int(np.count_nonzero(done.columns["offered"] != ends + change))
        broken += int(np.count_nonzero(pending < 0))
    if len(born):
        ends = added(born.columns[end] for end in _ENDS)
        broken += int(np.count_nonzero(born.columns["offered"] != ends))
    return broken


def frozen(columns: Mapping[str, CountArray]) -> Mapping[str, CountArray]:
    """Return read-only views of `columns`."""
    views = {name: array.view() for name, array in columns.items()}
    for view in views.values():
        view.flags.writeable = False
    return MappingProxyType(views)
