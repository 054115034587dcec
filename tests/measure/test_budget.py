"""The share of an error budget that a fault costs."""

from dataclasses import replace

import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.budget import budget_share
from brownout.measure.settings import MeasureSettings

LAB = MeasureSettings.lab()
OK = [80] * 300 + [0] * 10 + [80] * 90  # 800 operations lost, at 800/s


@pytest.mark.parametrize(
    ("objective", "days", "share"),
    [
        (0.9995, 30, 800 / (0.0005 * 800 * 30 * 86_400)),
        (0.99, 1, 800 / (0.01 * 800 * 86_400)),
        (0.99, 7, 800 / (0.01 * 800 * 7 * 86_400)),
    ],
)
def test_the_budget_is_what_the_objective_allows_at_this_rate(
    objective: float, days: float, share: float
) -> None:
    settings = replace(LAB, budget_objective=objective, budget_days=days)
    data = data_of(make_series([80] * 400, OK), settings)
    assert budget_share(view(data, 30.0, 40.0), data) == pytest.approx(share)


def test_without_a_loss_nothing_of_it_is_used() -> None:
    data = data_of(make_series([80] * 400, [80] * 400), LAB)
    assert budget_share(view(data, 30.0, 40.0), data) == 0.0


def test_without_a_load_in_the_baseline_it_is_not_measured() -> None:
    idle = [0] * 300 + [80] * 100
    data = data_of(make_series(idle, idle), LAB)
    assert budget_share(view(data, 30.0, 40.0), data) is None
