"""What the detectors make of windows without a fault, and of windows with one."""

import numpy as np
import pytest

from brownout.calibration.alarms import baselines, rates, table
from brownout.calibration.alarms.detectors import DETECTORS, by_ratio, by_throughput
from brownout.calibration.alarms.window import Dip, made_up, out_of
from brownout.measure import MeasureSettings

LAB = MeasureSettings.lab()


def drawn() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_the_noise_is_that_of_a_mean_of_one_second(noise: float) -> None:
    signal = made_up(drawn(), noise, MeasureSettings(baseline_s=1000.0)).signal
    seconds = signal.ok.reshape(-1, 10).sum(axis=1)
    assert seconds.std() / seconds.mean() == pytest.approx(noise, rel=0.1)


@pytest.mark.parametrize("name", DETECTORS)
def test_without_noise_no_detector_sees_a_fault_where_there_is_none(name: str) -> None:
    assert not DETECTORS[name](made_up(drawn(), 0.0, LAB))


@pytest.mark.parametrize("name", DETECTORS)
def test_without_noise_every_detector_sees_a_dip_of_15_percent(name: str) -> None:
    assert DETECTORS[name](made_up(drawn(), 0.0, LAB, dip=Dip(0.154, 5.0)))


def test_noise_of_the_rate_is_none_of_the_success_ratio() -> None:
    random = drawn()
    assert not any(by_ratio(made_up(random, 0.1, LAB)) for _ in range(20))


def test_too_much_noise_hides_a_dip_from_throughput() -> None:
    random = drawn()
    windows = [made_up(random, 0.1, LAB, dip=Dip(0.05, 5.0)) for _ in range(20)]
    assert sum(map(by_throughput, windows)) < 15


def test_a_long_run_is_cut_into_windows_each_with_the_one_before_as_baseline() -> None:
    signal = made_up(drawn(), 0.02, MeasureSettings(baseline_s=60.0)).signal
    cut = list(out_of(signal, LAB))
    assert [(one.start, one.middle, one.end) for one in cut] == [
        (1.0, 21.0, 41.0), (21.0, 41.0, 61.0), (41.0, 61.0, 81.0), (61.0, 81.0, 101.0),
    ]  # fmt: skip


def test_the_rates_are_the_same_for_a_seed_and_the_table_has_them_all() -> None:
    found = rates.false_alarms(2, LAB, 3)
    assert found == rates.false_alarms(2, LAB, 3)
    assert len(found) == len(DETECTORS) * len(rates.NOISES)
    errors = rates.error_rates(2, LAB, 3)
    refused = baselines.refusals(2, MeasureSettings(baseline_s=10.0), 3)
    assert refused == baselines.refusals(2, MeasureSettings(baseline_s=10.0), 3)
    text = table.document(found, found, errors, found, refused)
    assert "Of 2 baselines of 10 s" in text
    for name in DETECTORS:
        assert text.count(f"| {name} |") == 3
    assert "0 of 2" in text


@pytest.mark.parametrize("settings", [MeasureSettings(), LAB], ids=["default", "lab"])
def test_steady_baselines_are_accepted_however_their_noise_wanders_and_drifts_are_refused(
    settings: MeasureSettings,
) -> None:
    windows = 150
    for each in baselines.refusals(windows, settings, 1):
        if (
            each.drift == 0
        ):  # 1 % at most: more than 5 of 150 would be by chance once in 1,000 times
            assert max(each.refused.values()) <= 5, each
        elif each.drift >= 2 * settings.drift_max:
            assert each.refused["any"] >= 0.8 * windows, each
