"""Decode HdrHistogram payloads by the thousand: seven hours of a run hold some hundred thousand.

A payload (V2, compressed) is base64 of a cookie, a length and a zlib stream, which holds a header
and the counts, each a ZigZag LEB128 number; a negative one stands for so many zeros:

    | cookie 4 | length 4 | zlib( | cookie 4 | length 4 | normalizing 4 | digits 4 | lowest 8
                                  | highest 8 | ratio 8 | counts … ) |

Only inflating is done one by one; numpy takes the headers and the numbers of all payloads at once.
Most numbers are one byte long, so tables say what a byte means, and only the longer numbers are
put together. What is found stays as (index, count) pairs, since most of a histogram is empty.
"""

import binascii
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from brownout.base.errors import RunDirectoryError

__all__ = ["Cells", "Shape", "check_shapes", "decode", "highest_values"]

Ints = npt.NDArray[np.signedinteger[Any]]
Bytes = npt.NDArray[np.uint8]
Truths = npt.NDArray[np.bool_]
#: Lowest and highest value that is told apart, in µs, and significant digits.
Shape = tuple[int, int, int]

_OUTER, _INNER = struct.Struct(">ii"), struct.Struct(">iiiiqqd")
#: The lower bits of a cookie's second nibble say how wide its words are.
_COOKIE = ~0xF0
_COMPRESSED, _PLAIN = 0x1C849304 & _COOKIE, 0x1C849303 & _COOKIE
#: More bytes than this make no count.
_LONGEST = 8
#: Characters of a payload: what zlib makes of them stays below 200 MB, whatever they are.
_LARGEST = 1 << 18
#: The bit of a byte that is not the last one of its number, and the bit of a negative number.
_MORE, _NEGATIVE = 0x80, 0x01


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of payloads that are not empty: first the `sizes[0]` cells of number 0, and so on.

    Each has `count[i]` at `index[i]`. The arrays are of the smallest signed types that hold them:
    there are millions of cells, and numpy makes floats of unsigned and signed ones together.
    """

    shape: Shape
    sizes: Ints
    index: Ints
    count: Ints

    def of(self, chosen: Truths) -> "Cells":
        """Return the cells of the payloads that are `chosen`, a truth value for each payload."""
        if chosen.all():
            return self
        kept = np.repeat(chosen, self.sizes)
        return Cells(self.shape, self.sizes[chosen], self.index[kept], self.count[kept])


def decode(payloads: Sequence[bytes]) -> Cells:
    """Decode `payloads`, at least one; raises `RunDirectoryError` for an invalid one.

    Histograms of different shapes cannot stand together, so these are refused too.
    """
    shape, bodies = _inflate(payloads)
    data = np.frombuffer(b"".join(bodies), np.uint8)
    edges = np.cumsum([0, *map(len, bodies)])
    beyond = len(highest_values(shape))
    ends, longer, lengths = _longer(data)
    if lengths.max(initial=0) > _LONGEST:
        raise _unreadable(payloads[_owner(edges, ends[np.argmax(lengths)])])
    filled = (data & (_MORE | _NEGATIVE) == 0) & (data > 0)
    steps = (((data >> 1) * (data & _NEGATIVE) + 1) * (data < _MORE)).astype(np.int32)
    steps[ends] = np.where(longer < 0, np.minimum(-longer, beyond), 1)
    filled[ends] = longer > 0
    at = np.flatnonzero(filled)
    count = (data[at] >> 1).astype(_smallest(longer.max(initial=_MORE >> 1)))
    count[np.searchsorted(at, ends[longer > 0])] = longer[longer > 0]
    sizes = np.diff(np.searchsorted(at, edges))
    reached = np.cumsum(steps, dtype=np.int64)
    begins = np.concatenate(([0], reached))[edges[:-1]]
    index = reached[at] - np.repeat(begins + 1, sizes)
    if index.max(initial=0) >= beyond:
        raise _unreadable(payloads[_owner(edges, at[np.argmax(index >= beyond)])])
    return Cells(shape, sizes, index.astype(_smallest(beyond)), count)


@cache
def highest_values(shape: Shape) -> Ints:
    """Return for each index the highest value in µs that counts the same.

    Values stand in buckets, each twice as wide as the one before; the first has all its cells,
    the others the upper half of theirs.
    """
    scale = HdrHistogram(*shape)
    half, magnitude = scale.sub_bucket_half_count, scale.sub_bucket_half_count_magnitude
    index = np.arange(scale.counts_len, dtype=np.int64)
    bucket = np.maximum(0, (index >> magnitude) - 1)
    cell = np.where(index < half, index, (index & (half - 1)) + half)
    width = scale.unit_magnitude + bucket
    highest: Ints = ((cell + 1) << width) - 1
    return highest


def check_shapes(one: Shape, other: Shape) -> None:
    """Refuse to add histograms that do not tell the same values apart."""
    if one != other:
        raise RunDirectoryError(
            f"latency.hlog: histograms of different shapes, {one} and {other} "
            "(lowest, highest, digits), cannot be added"
        )


def _inflate(payloads: Sequence[bytes]) -> tuple[Shape, list[bytes]]:
    """Return the shape of the histograms and the bytes of each one's counts."""
    bodies: list[bytes] = []
    shape, payload = None, b""
    try:
        for payload in payloads:
            if len(payload) > _LARGEST:
                raise ValueError("too long")
            outer = binascii.a2b_base64(payload, strict_mode=True)
            cookie, length = _OUTER.unpack_from(outer)
            if cookie & _COOKIE != _COMPRESSED or length != len(outer) - _OUTER.size:
                raise ValueError("another format, or cut off")
            inner = zlib.decompress(outer[_OUTER.size :])
            header, size = _header(inner[: _INNER.size])
            body = inner[_INNER.size :]
            if size != len(body) or (body and body[-1] & _MORE):
                raise ValueError("counts that are cut off")
            if header != shape:
                check_shapes(shape or header, header)
                shape = header
            bodies.append(body)
    except (binascii.Error, struct.error, zlib.error, ValueError) as error:
        raise _unreadable(payload) from error
    if shape is None:
        raise ValueError("no payload")
    return shape, bodies


@lru_cache(1 << 12)
def _header(header: bytes) -> tuple[Shape, int]:
    """Return the shape of a histogram, and of how many bytes its counts are.

    Most histograms of a run share a few hundred headers. Raises ValueError for one of another
    format, struct.error for one that is cut off.
    """
    cookie, size, normalizing, digits, lowest, highest, _ = _INNER.unpack(header)
    possible = lowest >= 1 and 2 * lowest <= highest and 1 <= digits <= 5
    if not possible or cookie & _COOKIE != _PLAIN or normalizing:
        raise ValueError("another format")
    return (lowest, highest, digits), size


def _longer(data: Bytes) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of more than one byte: where the last byte is, the value, how many bytes.

    Of a number of too many bytes the value is wrong.
    """
    more = np.flatnonzero(data >= _MORE)
    starts = more[np.diff(more, prepend=-2) > 1]
    ends = more[np.diff(more, append=len(data) + 1) > 1] + 1
    lengths = ends - starts + 1
    values = (data[starts] & 0x7F).astype(np.int64)
    for byte in range(1, min(_LONGEST, int(lengths.max(initial=0)))):
        here = np.flatnonzero(lengths > byte)
        values[here] |= (data[starts[here] + byte] & 0x7F).astype(np.int64) << (7 * byte)
    return ends, (values >> 1) ^ -(values & 1), lengths


def _owner(edges: Ints, place: Any) -> int:
    """Return the number of the payload that a byte is of."""
    return int(np.searchsorted(edges, place, side="right")) - 1


def _smallest(highest: int) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed type that holds 0 to `highest`."""
    return np.min_scalar_type(-1 - int(highest))


def _unreadable(payload: bytes) -> RunDirectoryError:
    shown = payload[:40].decode("utf-8", "replace")
    return RunDirectoryError(f"latency.hlog: a histogram cannot be decoded: `{shown}…`")
