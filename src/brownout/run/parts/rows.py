"""Add up the smaller files of several generators, row by row as they are read. Pure.

Each input has its rows in the order of their buckets, and so has what is made of them.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from brownout.run.parts.counts import bucket_text
from brownout.run.table import bucket_of

__all__ = ["add_errors", "add_lanes", "worst_seconds"]

Row = Sequence[str]


def add_errors(parts: Sequence[Iterable[Row]], buckets: int) -> Iterator[list[str]]:
    """Yield `t,stream,op,cause,code,n`, n added up, of the first `buckets` buckets."""
    yield from _add(parts, buckets, head=5)


def add_lanes(parts: Sequence[Iterable[Row]], buckets: int) -> Iterator[list[str]]:
    """Yield `t,lane,offered,ok,bad,pending`, the counts added up, of the first buckets."""
    yield from _add(parts, buckets, head=2)


def _add(parts: Sequence[Iterable[Row]], buckets: int, head: int) -> Iterator[list[str]]:
    """Add up the rows of a bucket that begin with the same `head` fields; numbers follow."""
    rows = heapq.merge(*parts, key=_bucket)
    for bucket, together in groupby(rows, _bucket):
        if bucket >= buckets:
            return
        sums: dict[tuple[str, ...], list[int]] = {}
        for row in together:
            counts = [int(float(field)) for field in row[head:]]
            known = sums.setdefault(tuple(row[1:head]), [0] * len(counts))
            known[:] = map(sum, zip(known, counts, strict=True))
        for named, counts in sums.items():
            yield [bucket_text(bucket), *named, *map(str, counts)]


def worst_seconds(parts: Sequence[Iterable[Row]]) -> Iterator[list[str]]:
    """Yield, for each second that every generator has, the largest of each column."""
    for rows in zip(*parts, strict=False):
        yield [max(column, key=float) for column in zip(*rows, strict=True)]


def _bucket(row: Row) -> int:
    return bucket_of(float(row[0]))
