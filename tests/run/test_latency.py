"""Histograms are added, percentiles exact to three digits, and torn logs are read to the tear."""

from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import fuzzed

from brownout.base.errors import RunDirectoryError
from brownout.run.latency import LatencyLog, is_response, read_hlog

times = st.lists(st.integers(1, 5_000_000), min_size=1, max_size=60)


def payload(micros: list[int], highest: int = 3_600_000_000) -> str:
    histogram = HdrHistogram(1, highest, 3)
    for value in micros:
        histogram.record_value(value)
    return str(histogram.encode().decode())


def log_of(tmp_path: Path, *lines: str, end: str = "\n") -> LatencyLog:
    file = tmp_path / "latency.hlog"
    head = [
        "#[Histogram log format version 1.3]",
        "#[StartTime: 1795342500.000 (seconds since epoch)]",
        "#[BaseTime: 1795342500.000 (seconds since epoch)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    file.write_text("\n".join([*head, *lines]) + end)
    return read_hlog(file)


def line(tag: str, start: float, micros: list[int], length: float = 1.0) -> str:
    return f"Tag={tag},{start:.3f},{length:.3f},{max(micros) / 1e6:.3f},{payload(micros)}"


@fuzzed(30)
@given(times, st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_a_percentile_is_that_of_the_operations_to_three_digits(
    tmp_path_factory: pytest.TempPathFactory, micros: list[int], ratio: float
) -> None:
    log = log_of(tmp_path_factory.mktemp("log"), line("app/read", 0, micros))
    histogram = log.between(["app/read"], 0, 1)
    assert histogram is not None
    assert histogram.n == len(micros)
    rank = max(1, int(np.ceil(ratio * len(micros) - 1e-9)))
    assert histogram.percentile_us(ratio) == pytest.approx(
        sorted(micros)[rank - 1], rel=1e-3, abs=1
    )


@fuzzed(30)
@given(times, times)
def test_intervals_and_tags_are_added_up(
    tmp_path_factory: pytest.TempPathFactory, first: list[int], second: list[int]
) -> None:
    log = log_of(
        tmp_path_factory.mktemp("log"),
        line("app/read", 0, first), line("app/update", 0, second), line("app/read", 1, second),
    )  # fmt: skip
    both = log.between(["app/read", "app/update", "app/insert"], 0, 2)
    assert both is not None
    assert both.n == len(first) + 2 * len(second)
    assert both.max_us == pytest.approx(max(first + second), rel=1e-3, abs=1)
    alone = log.between(["app/read"], 1, 2)
    assert alone is not None
    assert alone.n == len(second)


def test_what_is_beyond_the_histogram_is_longer_than_all_in_it(tmp_path: Path) -> None:
    histogram = log_of(tmp_path, line("app/read", 0, [1000] * 98)).between(["app/read"], 0, 1)
    assert histogram is not None
    assert histogram.percentile_us(0.5, beyond=2) == pytest.approx(1000, rel=1e-3)
    assert histogram.percentile_us(0.98, beyond=2) == pytest.approx(1000, rel=1e-3)
    assert histogram.percentile_us(0.99, beyond=2) is None
    assert histogram.percentile_us(0.5, beyond=99) is None


def test_an_interval_belongs_where_its_middle_lies(tmp_path: Path) -> None:
    log = log_of(tmp_path, *(line("app/read", s, [100 * (s + 1)]) for s in range(4)))
    for start, end, n in ((0, 4, 4), (0.4, 3.4, 3), (0.6, 2.4, 1), (3.5, 9, 1), (3.6, 9, 0)):
        found = log.between(["app/read"], start, end)
        assert (found.n if found else 0) == n
    assert list(log.seconds(["app/read"], 1, 3)) == [1, 2]


def test_service_times_and_failures_are_not_response_times(tmp_path: Path) -> None:
    lines = [line(tag, 0, [500]) for tag in ("app/read", "app/read/service", "app/read/failed")]
    assert log_of(tmp_path, *lines).tags == ("app/read",)
    every = read_hlog(tmp_path / "latency.hlog", wanted=lambda tag: not is_response(tag))
    assert every.tags == ("app/read/service", "app/read/failed")


@pytest.mark.parametrize("kept", [0, 4, 20, 60])
def test_a_torn_last_line_is_left_out(tmp_path: Path, kept: int) -> None:
    whole = line("app/read", 1, [700])
    log = log_of(tmp_path, line("app/read", 0, [500]), whole[:kept], end="")
    histogram = log.between(["app/read"], 0, 9)
    assert histogram is not None
    assert histogram.n == 1


def test_a_run_without_the_file_has_no_response_times(tmp_path: Path) -> None:
    log = read_hlog(tmp_path / "latency.hlog")
    assert log.tags == ()
    assert log.between(["app/read"], 0, 9) is None
    assert log.seconds(["app/read"], 0, 9) == {}


def test_a_line_in_the_middle_that_is_no_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="line 5: is not an interval"):
        log_of(tmp_path, "Tag=app/read,soon,1.000", line("app/read", 1, [700]))


def test_a_line_that_is_no_interval_is_counted_from_the_start_of_a_long_file(
    tmp_path: Path,
) -> None:
    lines = [line("app/read", second, [500, 700]) for second in range(4000)]
    lines[3000] = "Tag=app/read,3000.000,1.000"
    with pytest.raises(
        RunDirectoryError, match="line 3005: is not an interval: `Tag=app/read,3000"
    ):
        log_of(tmp_path, *lines)


def test_a_file_longer_than_a_chunk_is_read_whole(tmp_path: Path) -> None:
    tags = ["app/read", "app/read/service", "app/update"]
    lines = [line(tag, second, [500, 700]) for second in range(1500) for tag in tags]
    log = log_of(tmp_path, *lines)
    assert (tmp_path / "latency.hlog").stat().st_size > 1 << 18
    assert log.tags == ("app/read", "app/update")
    for tag in log.tags:
        found = log.seconds([tag], 0, 2000)
        assert list(found) == list(range(1500))
        assert {histogram.n for histogram in found.values()} == {2}


def test_lines_with_and_without_a_tag_may_end_in_a_carriage_return(tmp_path: Path) -> None:
    file = tmp_path / "latency.hlog"
    everything = f"0.000,1.000,0.001,{payload([5])}"
    file.write_bytes(f"# a note\r\n\r\n{everything}\r\nTag=app/read,{everything}\r\n".encode())
    log = read_hlog(file, lambda _: True)
    assert log.tags == ("", "app/read")
    assert [histogram.n for histogram in log.seconds(log.tags, 0, 1).values()] == [2]


def test_a_tag_alone_takes_no_fields_from_other_lines(tmp_path: Path) -> None:
    everything = f"0.000,1.000,0.001,{payload([5])}"  # of all tags together
    file = tmp_path / "latency.hlog"
    file.write_text(f"{everything}\n{line('app/read', 0, [700])}\nTag=app/read\n")
    with pytest.raises(RunDirectoryError, match="line 3: is not an interval: `Tag=app/read`"):
        read_hlog(file, lambda _: True)


def test_a_histogram_that_cannot_be_decoded_is_refused(tmp_path: Path) -> None:
    for wrong in ("HISTFAAAAAAA", "!!!", "", payload([5])[:-8]):
        log = log_of(tmp_path, f"Tag=app/read,0.000,1.000,0.001,{wrong}")
        with pytest.raises(RunDirectoryError, match="cannot be decoded"):
            log.between(["app/read"], 0, 1)


def test_histograms_of_different_shapes_are_not_added(tmp_path: Path) -> None:
    other = f"Tag=app/update,0.000,1.000,0.001,{payload([5], highest=1_000_000)}"
    log = log_of(tmp_path, line("app/read", 0, [500]), other)
    with pytest.raises(RunDirectoryError, match="different shapes"):
        log.between(["app/read", "app/update"], 0, 1)


@pytest.mark.parametrize("start", ["nan", "1e300", "-inf"])
def test_an_interval_at_no_time_of_a_run_is_refused(tmp_path: Path, start: str) -> None:
    with pytest.raises(RunDirectoryError, match="line 5: is not an interval"):
        log_of(tmp_path, f"Tag=app/read,{start},1.000,0.001,{payload([5])}")


#: Times and how often they occur, of some seconds of reads and of updates.
second_of = st.lists(st.tuples(st.integers(0, 3_600_000_000), st.integers(1, 1 << 40)), max_size=20)


@fuzzed(20)
@given(
    st.lists(st.tuples(second_of, second_of), min_size=1, max_size=4),
    st.lists(st.floats(0, 1), min_size=1, max_size=3).map(sorted),
)
def test_percentiles_by_the_second_are_those_of_the_histograms(
    tmp_path_factory: pytest.TempPathFactory,
    seconds: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]],
    ratios: list[float],
) -> None:
    tags, lines = ["app/read", "app/update"], []
    for second, both in enumerate(seconds):
        for tag, counted in zip(tags, both, strict=True):
            histogram = HdrHistogram(1, 3_600_000_000, 3)
            for value, n in counted:
                histogram.record_value(value, n)
            lines.append(f"Tag={tag},{second},1,1,{histogram.encode().decode()}")
    log = log_of(tmp_path_factory.mktemp("log"), *lines)
    for asked in (tags, tags[:1]):
        rows = log.percentiles(asked, len(seconds), ratios)
        for second, row in enumerate(rows):
            found = log.between(asked, second, second + 1)
            assert found is not None
            wanted = [found.percentile_us(ratio) for ratio in ratios]
            assert [None if np.isnan(us) else us for us in row] == wanted


def test_a_second_without_a_histogram_has_no_percentiles(tmp_path: Path) -> None:
    lines = [line("app/read", second, [100 * (second + 1)]) for second in (0, 3, 700, 900)]
    log = log_of(tmp_path, *reversed(lines))
    rows = log.percentiles(["app/read", "app/scan"], 899.5, [0.5, 1.0])
    assert rows.shape == (900, 2)
    assert np.flatnonzero(~np.isnan(rows[:, 0])).tolist() == [0, 3, 700]
    assert rows[[0, 3]].tolist() == [[100, 100], [400, 400]]
    assert np.isnan(log.percentiles(["app/scan"], 3, [0.5])).all()
    assert log.percentiles(["app/read"], 0, [0.5]).shape == (0, 1)


def test_percentiles_of_a_log_that_is_damaged_are_refused(tmp_path: Path) -> None:
    whole = line("app/read", 0, [500])
    for wrong in ("HISTFAAAAAAA", "!!!", "", payload([5])[:-8], "A" * (1 << 19)):
        log = log_of(tmp_path, whole, f"Tag=app/read,1.000,1.000,0.001,{wrong}")
        assert log.percentiles(["app/read"], 1, [0.5]).tolist() == [[500]]
        with pytest.raises(RunDirectoryError, match=r"latency\.hlog: a histogram"):
            log.percentiles(["app/read"], 2, [0.5])
    other = f"Tag=app/read,1.000,1.000,0.001,{payload([5], highest=1_000_000)}"
    with pytest.raises(RunDirectoryError, match=r"latency\.hlog: histograms of different shapes"):
        log_of(tmp_path, whole, other).percentiles(["app/read"], 2, [0.5])


def test_a_log_that_is_gone_meanwhile_is_named(tmp_path: Path) -> None:
    log = log_of(tmp_path, line("app/read", 0, [500]))
    (tmp_path / "latency.hlog").unlink()
    for ask in (
        lambda: log.percentiles(["app/read"], 1, [0.5]),
        lambda: log.seconds(log.tags, 0, 1),
    ):
        with pytest.raises(
            RunDirectoryError, match=r"latency\.hlog: cannot be read: [Nn]o such file"
        ):
            ask()
