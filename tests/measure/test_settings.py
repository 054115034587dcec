"""The settings of the measures: what they are, and that a record gives them back."""

import pytest

from brownout.base.errors import ConfigurationError
from brownout.measure.settings import MeasureSettings


def test_the_lab_differs_where_measures_say_so() -> None:
    default, lab = MeasureSettings.default(), MeasureSettings.lab()
    assert (default.baseline_s, default.hold_s, default.block_s) == (60.0, 10.0, 5.0)
    assert (default.milestone_hold_s, lab.milestone_hold_s) == (3.0, 1.0)
    assert (lab.baseline_s, lab.hold_s, lab.block_s) == (20.0, 5.0, 1.0)
    assert (default.drift_max, default.halves_max) == (0.03, 0.02)
    assert (lab.drift_max, lab.halves_max) == (0.08, 0.05)
    assert default.variation_max == lab.variation_max == 0.10


@pytest.mark.parametrize("settings", [MeasureSettings.default(), MeasureSettings.lab()])
def test_a_record_gives_the_settings_back(settings: MeasureSettings) -> None:
    assert MeasureSettings.from_mapping(settings.as_dict()) == settings


def test_every_problem_of_a_record_is_named_at_once() -> None:
    values = {
        "hold": 5,
        "hold_s": "soon",
        "baseline_s": -1,
        "theta_min": float("nan"),
        "block_s": True,
    }
    with pytest.raises(ConfigurationError) as error:
        MeasureSettings.from_mapping(values)
    assert len(error.value.problems) == 5
