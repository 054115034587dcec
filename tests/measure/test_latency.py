"""Percentiles by phase, in which what was not ok never flatters the rest."""

from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.measure.document import document_of


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
