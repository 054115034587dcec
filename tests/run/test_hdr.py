"""Payloads decoded by the thousand are what HdrHistogram itself reads from each."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from brownout.base.errors import RunDirectoryError
from brownout.run.hdr import decode, highest_values

HIGHEST = 3_600_000_000
records = st.lists(
    st.tuples(st.integers(0, HIGHEST), st.integers(1, 1 << 40)), min_size=0, max_size=20
)


def histogram_of(values: list[tuple[int, int]]) -> HdrHistogram:
    histogram = HdrHistogram(1, HIGHEST, 3)
    for value, n in values:
        histogram.record_value(value, n)
    return histogram


def payload_of(body: bytes, **fields: int) -> bytes:
    """A payload with these bytes for counts, and with changed fields of its inner header."""
    outer = base64.b64decode(histogram_of([(10**9, 1)]).encode())
    names = ("cookie", "length", "normalizing", "digits", "lowest", "highest", "ratio")
    found = struct.unpack(">iiiiqqd", zlib.decompress(outer[8:])[:40])
    values = dict(zip(names, found, strict=True)) | {"length": len(body)} | fields
    stream = zlib.compress(struct.pack(">iiiiqqd", *values.values()) + body)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(stream)) + stream)


def leb128(numbers: list[int]) -> bytes:
    """Numbers as a payload has them: the sign in the lowest bit, seven bits a byte."""
    body = bytearray()
    for number in numbers:
        left = 2 * number if number >= 0 else -2 * number - 1
        while left >= 0x80:
            body.append(left & 0x7F | 0x80)
            left >>= 7
        body.append(left)
    return bytes(body)


@settings(deadline=None)
@given(st.lists(records, min_size=1, max_size=6))
def test_cells_are_those_of_each_histogram(many: list[list[tuple[int, int]]]) -> None:
    histograms = [histogram_of(values) for values in many]
    cells = decode([histogram.encode() for histogram in histograms])
    for number, histogram in enumerate(histograms):
        found = np.zeros(histogram.counts_len, np.int64)
        mine = cells.of(np.arange(len(many)) == number)
        found[mine.index] = mine.count
        assert found.tolist() == np.frombuffer(histogram.counts, np.int64).tolist()


@pytest.mark.parametrize("shape", [(1, HIGHEST, 3), (1, 1_000_000, 2), (1000, 10**10, 3)])
def test_an_index_stands_for_what_hdrhistogram_says(shape: tuple[int, int, int]) -> None:
    scale = HdrHistogram(*shape)
    wanted = [
        scale.get_highest_equivalent_value(scale.get_value_from_index(index))
        for index in range(scale.counts_len)
    ]
    assert highest_values(shape).tolist() == wanted


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.integers(-700, 200) | st.integers(0, 1 << 50), max_size=30),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_any_numbers_are_read_as_hdrhistogram_reads_them(many: list[list[int]]) -> None:
    payloads = [payload_of(leb128(numbers)) for numbers in many]
    cells = decode(payloads)
    for number, payload in enumerate(payloads):
        wanted = np.frombuffer(HdrHistogram.decode(payload).counts, np.int64)
        mine = cells.of(np.arange(len(many)) == number)
        assert mine.index.tolist() == np.flatnonzero(wanted).tolist()
        assert mine.count.tolist() == wanted[wanted > 0].tolist()


@pytest.mark.parametrize("field", ["cookie", "length", "normalizing", "digits"])
def test_a_header_that_is_not_ours_is_refused(field: str) -> None:
    with pytest.raises(RunDirectoryError, match="cannot be decoded"):
        decode([payload_of(leb128([1]), **{field: 7})])


def test_a_payload_that_would_grow_without_measure_is_refused() -> None:
    with pytest.raises(RunDirectoryError, match="cannot be decoded"):
        decode([b"A" * (1 << 19)])


def test_counts_beyond_the_last_index_are_refused() -> None:
    with pytest.raises(RunDirectoryError, match="cannot be decoded"):
        decode([payload_of(leb128([-10_000, 1]), highest=2)])


@pytest.mark.parametrize("body", [b"\x02\x80", b"\x80" * 8 + b"\x01", leb128([-(1 << 50), 1])])
def test_of_many_payloads_the_one_with_wrong_counts_is_named(body: bytes) -> None:
    good, wrong = payload_of(leb128([-900, 70, 3])), payload_of(body)
    with pytest.raises(RunDirectoryError, match="cannot be decoded") as error:
        decode([good, good, wrong, good])
    assert wrong[:40].decode() in str(error.value)
