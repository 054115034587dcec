"""Published figures and figures that follow from a definition."""

from pathlib import Path

import numpy as np
import pytest
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.measure.document import document_of
from brownout.measure.drops import decay, decay_of
from brownout.measure.level import drop


@pytest.mark.parametrize(
    ("before", "lowest", "percent"), [(36_000, 7_192, 80.0), (149_000, 126_000, 15.4)]
)
def test_a_drop_is_one_minus_lowest_over_before(
    before: float, lowest: float, percent: float
) -> None:
    assert 100 * drop(before, lowest) == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize(
    ("highest", "last", "mean", "percent"), [(332, 316, 321, 5.0), (46.1, 32.2, 35.8, 38.8)]
)
def test_a_decay_is_what_was_lost_since_the_best_minute(
    highest: float, last: float, mean: float, percent: float
) -> None:
    assert 100 * decay_of(highest, last, mean) == pytest.approx(percent, abs=0.051)


def test_throughput_above_the_baseline_is_no_drop() -> None:
    assert drop(100.0, 130.0) == 0.0


def test_decay_is_taken_from_minute_means() -> None:
    per_bucket = np.repeat([33.2, 31.5, 31.6], 600)
    assert decay(per_bucket, 180.0) == pytest.approx((332 - 316) / 321, abs=1e-9)
    assert decay(per_bucket, 119.0) is None


def test_a_full_outage_of_2_9_s_at_800_a_second_loses_1_9_s_of_operations(tmp_path: Path) -> None:
    script = RunScript(rate=800, fault_at=25.4, outage_s=2.9, deadline_s=1.0)
    (fault,) = document_of(analyze(build_run(tmp_path, script)))["faults"]
    assert fault["lost_operations"] == pytest.approx(1520, abs=10)
    assert fault["lost_seconds"] == pytest.approx(1.9, abs=0.02)
    assert fault["budget_share"] == pytest.approx(1520 / 1_036_800, abs=1e-5)
    assert fault["tps_drop"] == 1.0
    assert fault["blackout"] == pytest.approx(2.9, abs=0.01)
    assert fault["recovery_time"] == pytest.approx(2.9, abs=0.11)
    assert sum(fault["errors"].values()) == fault["lost_operations"]
