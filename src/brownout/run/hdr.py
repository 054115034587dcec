"""Decode HdrHistogram payloads by the thousand: seven hours of a run hold some hundred thousand.

A payload (V2, compressed) is base64 of a cookie, a length and a zlib stream, which holds a header
and the counts, each a ZigZag LEB128 number; a negative one stands for so many zeros:

    | cookie 4 | length 4 | zlib( | cookie 4 | length 4 | normalizing 4 | digits 4 | lowest 8
                                  | highest 8 | ratio 8 | counts … ) |

Only inflating is done one by one; the numbers of all payloads are told apart at once by numpy,
and stay as (index, count) pairs, since most of a histogram is empty.
"""

import binascii
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from brownout.base.errors import RunDirectoryError

__all__ = ["Cells", "Shape", "check_shapes", "decode", "highest_values"]

Ints = npt.NDArray[np.int64]
#: Lowest and highest value that is told apart, in µs, and significant digits.
Shape = tuple[int, int, int]

_OUTER, _INNER = struct.Struct(">ii"), struct.Struct(">iiiiqqd")
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
#: The lower bits of a cookie's second nibble say how wide its words are.
_COOKIE = ~0xF0
#: More bytes than this make no count.
_LONGEST = 8
#: Characters of a payload: what zlib makes of them stays below 200 MB, whatever they are.
_LARGEST = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells that are not empty: payload number `owner[i]` has `count[i]` at `index[i]`."""

    shape: Shape
    owner: Ints
    index: Ints
    count: Ints


def decode(payloads: Sequence[bytes]) -> Cells:
    """Decode `payloads`, at least one; raises `RunDirectoryError` for one that is none.

    Histograms of different shapes cannot stand together, so these are refused too.
    """
    shapes, bodies = zip(*(_inflate(payload) for payload in payloads), strict=True)
    for shape in shapes:
        check_shapes(shapes[0], shape)
    sizes = np.array([len(body) for body in bodies])
    values, first_of = _numbers(np.frombuffer(b"".join(bodies), np.uint8), sizes)
    if values is None:
        raise _unreadable(payloads[0])
    steps = np.where(values < 0, -values, 1)
    place = np.cumsum(steps) - steps
    per_payload = np.diff(np.append(first_of, len(values)))
    owner = np.repeat(np.arange(len(payloads)), per_payload)
    place -= np.repeat(np.append(place, 0)[first_of], per_payload)
    filled = values > 0
    cells = Cells(shapes[0], owner[filled], place[filled], values[filled])
    beyond = (cells.index < 0) | (cells.index >= len(highest_values(cells.shape)))
    if beyond.any():
        raise _unreadable(payloads[int(cells.owner[int(np.argmax(beyond))])])
    return cells


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
    found: Ints = ((cell + 1) << width) - 1
    return found


def check_shapes(one: Shape, other: Shape) -> None:
    """Refuse to add histograms that do not tell the same values apart."""
    if one != other:
        raise RunDirectoryError(
            f"latency.hlog: histograms of different shapes, {one} and {other} "
            "(lowest, highest, digits), cannot be added"
        )


def _inflate(payload: bytes) -> tuple[Shape, bytes]:
    """Return the shape of a histogram and the bytes of its counts."""
    if len(payload) > _LARGEST:
        raise _unreadable(payload)
    try:
        outer = binascii.a2b_base64(payload, strict_mode=True)
        cookie, length = _OUTER.unpack_from(outer)
        inner = zlib.decompress(outer[_OUTER.size :]) if length == len(outer) - _OUTER.size else b""
        plain, size, normalizing, digits, lowest, highest, _ = _INNER.unpack_from(inner)
    except (binascii.Error, struct.error, zlib.error, ValueError) as error:
        raise _unreadable(payload) from error
    body = inner[_INNER.size :]
    known = cookie & _COOKIE == _COMPRESSED & _COOKIE and plain & _COOKIE == _PLAIN & _COOKIE
    possible = lowest >= 1 and 2 * lowest <= highest and 1 <= digits <= 5
    if not possible or not known or size != len(body) or normalizing or (body and body[-1] & 0x80):
        raise _unreadable(payload)
    return (lowest, highest, digits), body


def _numbers(
    data: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64]
) -> tuple[Ints | None, npt.NDArray[np.int64]]:
    """Return the numbers that `data` holds, and which of them is the first of each payload."""
    ends = np.flatnonzero(data < 0x80)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    lengths = ends - starts + 1
    first_of = np.searchsorted(starts, np.cumsum(sizes) - sizes)
    if len(lengths) and lengths.max() > _LONGEST:
        return None, first_of
    values = (data[starts] & 0x7F).astype(np.int64)
    longest = int(lengths.max()) if len(lengths) else 0
    for byte in range(1, longest):
        more = np.flatnonzero(lengths > byte)
        values[more] |= (data[starts[more] + byte] & 0x7F).astype(np.int64) << (7 * byte)
    return (values >> 1) ^ -(values & 1), first_of


def _unreadable(payload: bytes) -> RunDirectoryError:
    shown = payload[:40].decode("utf-8", "replace")
    return RunDirectoryError(f"latency.hlog: a histogram cannot be decoded: `{shown}…`")
