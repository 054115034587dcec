"""Add up the latency logs of several generators, second by second and tag by tag.

The histograms of one second are in memory, and no more. One that only one generator has is
copied as it is.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from brownout.base.errors import RunDirectoryError
from brownout.run.hdr import decode, encode

__all__ = ["Line", "add_lines", "header_of", "read_lines"]


class Line(NamedTuple):
    """`Tag=<tag>,<start>,<length>,<longest>,<payload>`; seconds, seconds, ms."""

    start: float
    tag: bytes
    length: float
    longest: float
    payload: bytes

    def text(self) -> bytes:
        """Return it as it stands in the file."""
        head = b"%s,%.3f,%.3f,%.3f," % (self.tag, self.start, self.length, self.longest)
        return head + self.payload + b"\n"


def header_of(path: Path) -> bytes:
    """Return the lines before the first interval; none without the file."""
    lines = []
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if not line.startswith((b"#", b'"')):
                    break
                lines.append(line)
    return b"".join(lines)


def read_lines(path: Path) -> Iterator[Line]:
    """Yield each whole line of a log; raises `RunDirectoryError` for one that is none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith(b"\n") or text.startswith((b"#", b'"')):
                continue
            try:
                tag, start, length, longest, payload = text.rstrip().split(b",")
                yield Line(float(start), tag, float(length), float(longest), payload)
            except ValueError as error:
                raise RunDirectoryError(f"{path}: line {number} is no interval") from error


def add_lines(parts: Sequence[Iterable[Line]], end: float) -> Iterator[Line]:
    """Yield the intervals that begin before `end`, those of a start and tag as one.

    Raises `RunDirectoryError` for histograms that do not tell the same values apart.
    """
    for start, together in groupby(heapq.merge(*parts, key=_start), _start):
        if start >= end:
            return
        of_tag: dict[bytes, list[Line]] = {}
        for line in together:
            of_tag.setdefault(line.tag, []).append(line)
        for lines in of_tag.values():
            yield lines[0] if len(lines) == 1 else _sum(lines)


def _sum(lines: Sequence[Line]) -> Line:
    cells = decode([line.payload for line in lines])
    total: dict[int, int] = {}
    for index, count in zip(cells.index.tolist(), cells.count.tolist(), strict=True):
        total[index] = total.get(index, 0) + count
    first = lines[0]
    return Line(
        first.start, first.tag, max(line.length for line in lines),
        max(line.longest for line in lines), encode(cells.shape, total),
    )  # fmt: skip


def _start(line: Line) -> float:
    return line.start
