"""What the figures beside other clients are made of: their output, our files, and rounds of all."""

import pytest
from tests.bench.clients import (
    SECONDS,
    VARIABLE,
    Spent,
    asbench_missing,
    done_by_asbench,
    rows_of,
    spent_alone,
    spent_by_generator,
)

#: The shape of what asbench 2.2.9 prints each second with `-L`.
_SECOND = """\
2026-11-21 17:21:32.039 INFO write(tps=25 (hit=25 miss=0) timeouts=0 errors=0) \
read(tps=24 (hit=24 miss=0) timeouts={timeouts} errors=0) \
total(tps=49 (hit=49 miss=0) timeouts={timeouts} errors=0)
hdr: write 2026-11-21T17:21:32Z {at}, {writes}, 76, 8271, 247, 620, 1536, 5191, 7539
hdr: read  2026-11-21T17:21:32Z {at}, {reads}, 25, 7651, 80, 290, 878, 3443, 5647
"""


def second(at: int, writes: int, reads: int, timeouts: int = 0) -> str:
    return _SECOND.format(at=at, writes=writes, reads=reads, timeouts=timeouts)


def test_the_last_counts_of_asbench_are_those_of_the_whole_round() -> None:
    assert done_by_asbench(second(1, 25, 24) + second(2, 51, 49)) == 100


def test_a_round_in_which_asbench_had_timeouts_is_no_measurement() -> None:
    with pytest.raises(SystemExit, match="timeouts"):
        done_by_asbench(second(1, 25, 24, timeouts=3) + second(2, 51, 49))


def test_an_output_without_counts_is_refused() -> None:
    with pytest.raises(SystemExit, match="hdr:"):
        done_by_asbench("Stage 1: default config\n")


def test_the_generators_time_stands_for_the_operations_of_its_whole_seconds() -> None:
    own = [{"t": "0.0", "cpu_s": "0.4"}, {"t": "1.0", "cpu_s": "0.9"}]
    series = [{"t": t, "ok": "10"} for t in ("0.0", "0.9", "1.0", "1.9", "2.0")]

    assert spent_by_generator(own, series) == Spent(done=40, seconds=2.0, cpu_s=0.9)


def test_a_round_of_the_client_alone_is_what_its_benchmark_says() -> None:
    told = "BenchmarkBareClient-2 1 20012345678 ns/op 1.5 cpu-s 100000 done 0 failed PASS"

    assert spent_alone(told) == Spent(done=100_000, seconds=SECONDS, cpu_s=1.5)


@pytest.mark.parametrize("told", ["1.5 cpu-s 99 done 1 failed", "--- SKIP: BenchmarkBareClient"])
def test_a_round_of_the_client_alone_with_failures_or_without_figures_is_refused(told: str) -> None:
    with pytest.raises(SystemExit, match="0 failed"):
        spent_alone(told)


def test_a_ratio_is_of_a_round_and_stands_with_its_spread() -> None:
    rounds = [
        {"brownout": Spent(1000, 1.0, ours), "asbench": Spent(1000, 1.0, 0.02)}
        for ours in (0.03, 0.04, 0.06)
    ]

    assert rows_of(1000, rounds) == [
        ["brownout, 1000/s", "1000", "40.0 (30.0–60.0) µs", "1"],
        ["asbench, 1000/s", "1000", "20.0 (20.0–20.0) µs", "2.00 (1.50–3.00)"],
    ]


def test_it_says_why_asbench_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/no/such/asbench")

    assert asbench_missing(stand_in=True) == "no real `asd` (BROWNOUT_ASD or PATH)"
    assert asbench_missing(stand_in=False) == "no `asbench` (BROWNOUT_ASBENCH or PATH)"
