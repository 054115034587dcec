"""Control windows, and what noise allows to be told."""

from dataclasses import replace

import numpy as np
import pytest
from tests.measure.signals import make_series

from brownout.measure import MeasureSettings, assess
from brownout.measure.data import RunData, Stream
from brownout.measure.sham import Sham
from brownout.run.events import Event
from brownout.show.report.noise import detectable_words, sham_words

LAB = MeasureSettings.lab()
CONTROL = Event(1, "sham", "control_window", requested=25.0, effective=25.0, ended=45.0)


def sham_of(ok: list[int], *events: Event) -> list[Sham]:
    data = RunData(make_series([100] * len(ok), ok), events, [Stream("app")], LAB, len(ok) / 10)
    return list(assess(data).shams)


def test_a_window_in_which_nothing_happened_raises_no_alarm() -> None:
    (found,) = sham_of([100] * 500, CONTROL)
    assert (found.start, found.end) == (25.0, 45.0)
    assert (found.tps_drop, found.dips, found.lost_operations) == (0.0, (), 0)
    assert not found.false_alarm


def test_a_dip_in_it_is_a_false_alarm() -> None:
    (found,) = sham_of([100] * 300 + [60] * 10 + [100] * 190, CONTROL)
    assert found.false_alarm
    assert found.tps_drop == pytest.approx(0.4)
    assert [(dip.start, dip.end) for dip in found.dips] == [(30.0, 31.0)]
    assert found.lost_operations == 400
    assert "1 dip, 400 operations lost  FALSE ALARM" in sham_words(found)


def test_a_fault_after_the_window_is_none_of_its_doing() -> None:
    fault = Event(2, "break", "kill_node", requested=46.0, effective=46.0)
    ok = [100] * 460 + [0] * 20 + [100] * 120
    data = RunData(make_series([100] * 600, ok), [CONTROL, fault], [Stream("app")], LAB, 60.0)
    found = assess(data)
    assert found.shams[0].false_alarm is False
    assert found.faults[0].number("tps_drop") == 1.0


def test_a_window_that_never_ended_is_none() -> None:
    assert sham_of([100] * 500, replace(CONTROL, ended=None)) == []


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
def test_the_detectable_drop_grows_with_the_noise(noise: float) -> None:
    random = np.random.default_rng(1)
    ok = np.rint(100 * (1 + random.normal(0, noise * np.sqrt(10), 500))).astype(int).tolist()
    data = RunData(make_series(ok, ok), [CONTROL], [Stream("app")], LAB, 50.0)
    detectable = assess(data).baseline.level.detectable
    assert max(0.001, 2 * noise) <= detectable <= max(0.002, 6 * noise)


def test_it_is_said_in_words() -> None:
    words = detectable_words(0.0412)
    assert words == "throughput drops below 4.12 % are within the noise"
