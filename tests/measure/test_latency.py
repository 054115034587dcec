"""Percentiles by phase, in which what was not ok never flatters the rest."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.run_builder import RunScript, add_fault, build_run

from brownout.judge.analysis import analyze
from brownout.measure.document import document_of
from brownout.measure.latency import phase_seconds


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A fault in the middle of a run; response times are around 2 ms."""
    limit = {"measure": "time_above.p99_10ms", "scope": "total", "limit": 30.0,
             "limit_from": "test", "why": ""}  # fmt: skip
    script = RunScript(rate=400, fault_at=25.0, outage_s=3.0, limits=(limit,))
    path: Path = build_run(tmp_path_factory.mktemp("runs"), script)
    return document_of(analyze(path))


def test_each_phase_has_its_own_operations(outage: dict[str, Any]) -> None:
    latency = outage["faults"][0]["latency"]
    assert latency["before"]["n"] == 20 * 400
    assert latency["before"]["p50_us"] == pytest.approx(2000, rel=0.05)
    assert latency["before"]["max_us"] < 20_000
    assert 900_000 < latency["during"]["max_us"] < 1_001_000
    assert latency["after"]["max_us"] < 20_000


def test_what_was_not_ok_counts_as_longer_than_the_deadline(outage: dict[str, Any]) -> None:
    fault = outage["faults"][0]
    ok, everything = fault["latency"]["during"], fault["latency_all"]["during"]
    assert everything["longer_than_deadline"] == sum(fault["errors"].values())
    assert everything["n"] == ok["n"] + everything["longer_than_deadline"]
    assert everything["p50_us"] > ok["p50_us"]
    assert everything["p99_us"] is None
    assert ok["p99_us"] is not None


def test_scopes_add_up_to_the_total(outage: dict[str, Any]) -> None:
    fault = outage["faults"][0]
    for phase in ("before", "during", "after"):
        total = fault["latency"][phase]["n"]
        parts = [fault["scopes"][scope]["latency"][phase] for scope in ("read", "write")]
        assert total == sum(part["n"] for part in parts)
        assert fault["latency"][phase]["max_us"] == max(part["max_us"] for part in parts)


def test_seconds_without_an_answer_are_seconds_above(outage: dict[str, Any]) -> None:
    # 3 s of outage; the last of them ends with late answers, and so the first second after it.
    assert outage["faults"][0]["time_above"] == {"p99_10ms": pytest.approx(3.0, abs=1.0)}


def stall_limits(phase: str) -> tuple[dict[str, Any], ...]:
    """At most 100 ms in a phase, and in no second of the fault more."""
    names = {f"latency.{phase}.max_us": 100_000.0, "time_above.max_100ms": 0.0}
    return tuple(
        {"measure": name, "scope": "total", "limit": limit, "limit_from": "test", "why": ""}
        for name, limit in names.items()
    )


@pytest.mark.parametrize(("concurrency", "deadline"), [(0, 1.0), (0, 5.0), (8, 1.0)])
@pytest.mark.parametrize("at", [25.02, 25.45, 25.55, 25.68, 25.74, 25.9])
def test_a_stall_right_after_the_fault_belongs_to_it_wherever_in_a_second_it_begins(
    tmp_path: Path, at: float, deadline: float, concurrency: int
) -> None:
    script = RunScript(fault_at=at, outage_s=0.25, deadline_s=deadline, concurrency=concurrency,
                       limits=stall_limits("during"))  # fmt: skip
    impact = document_of(analyze(build_run(tmp_path, script)))
    (fault,) = impact["faults"]
    assert fault["latency"]["during"]["max_us"] == pytest.approx(250_000, abs=10_000)
    assert fault["latency"]["before"]["max_us"] < 20_000
    assert fault["latency"]["after"]["max_us"] < 20_000
    assert fault["time_above"] == {"max_100ms": 1.0}
    assert (impact["verdict"], len(impact["reasons"])) == ("fail", 2)


@pytest.mark.parametrize("into", [0.02, 0.3, 0.45, 0.55, 0.95])
def test_a_stall_right_before_the_fault_is_over_belongs_to_it(tmp_path: Path, into: float) -> None:
    """The load has held for long when redundancy is back, so that the fault is over then."""
    end = 39 + into
    script = RunScript(redundant_at=end, outage_s=0.05, again=((end - 0.31, 0.3),),
                       limits=stall_limits("during"))  # fmt: skip
    (fault,) = document_of(analyze(build_run(tmp_path, script)))["faults"]
    assert fault["end"] == pytest.approx(end)
    assert fault["latency"]["during"]["max_us"] == pytest.approx(300_000, abs=10_000)
    assert fault["latency"]["after"]["max_us"] < 20_000


@pytest.mark.parametrize("into", [0.1, 0.45, 0.62, 0.9])
def test_a_stall_of_a_second_fault_is_not_of_what_came_after_the_first(
    tmp_path: Path, into: float
) -> None:
    again = 45 + into
    path = build_run(tmp_path, RunScript(outage_s=0.05, again=((again, 0.25),), analyzed=False))
    add_fault(path, again, "n2")
    first, second = document_of(analyze(path))["faults"]
    assert second["latency"]["during"]["max_us"] == pytest.approx(250_000, abs=10_000)
    assert first["latency"]["after"]["max_us"] < 20_000


def test_each_operation_after_the_fault_began_is_in_one_phase(tmp_path: Path) -> None:
    (fault,) = document_of(analyze(build_run(tmp_path, RunScript(rate=400, fault_at=25.7))))[
        "faults"
    ]
    after_25_s = sum(fault["latency_all"][phase]["n"] for phase in ("during", "after"))
    assert after_25_s == pytest.approx(35 * 400, abs=2)  # what was under way at 25 and at 60 s


@given(
    st.floats(2, 50), st.floats(0, 30), st.floats(0, 30), st.floats(0, 3), st.booleans()
)  # fmt: skip
def test_a_fault_has_every_second_that_it_overlaps_and_no_second_is_of_two_phases(
    start: float, lasts: float, rest: float, gap: float, is_last: bool
) -> None:
    end, until = start + lasts, start + lasts + rest
    load_end = until if is_last else until + 40
    seconds = phase_seconds((max(0.0, start - 20), start - gap), start, end, until, load_end)
    chosen = [second for first, last in seconds.values() for second in range(first, last)]
    assert len(chosen) == len(set(chosen))
    first, last = seconds["during"]
    assert first - 1e-6 <= start <= first + 1 + 1e-6
    assert last >= (end if is_last else min(end, int(until))) - 1e-5
    assert seconds["after"][1] <= (until + 1 if is_last else until + 1e-5) or lasts + rest < 1
    following = phase_seconds((0.0, 1.0), until, until + 5, until + 9, until + 40)
    if not is_last:
        assert following["during"][0] >= last or lasts + rest < 1
