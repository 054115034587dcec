"""A unit says what everything needs to know of it: one of another package is as good as ours."""

import pytest

from brownout.judge.slo_checks import value_problems
from brownout.measure import measures
from brownout.measure.measures import Measure, find
from brownout.measure.unit import RATIO, SECONDS, TIMES, UNITS, Unit
from brownout.observe.metrics import metric_of
from brownout.show.report.words import amount

KELVIN = Unit("K", {"mK": 0.001}, metric="kelvin", words=lambda value, _: f"{value:g} K")


@pytest.fixture
def warmth(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """A measure of another package, in a unit that nothing of ours knows."""
    own = Measure(name="warmth", unit=KELVIN, label="warmth")
    everything = {**measures.measures(), "warmth": own}
    monkeypatch.setattr(measures, "measures", lambda: everything)
    monkeypatch.setattr("brownout.observe.metrics.measures", lambda: everything)
    return own


def test_a_measure_in_a_unit_of_its_own_is_worded_limited_and_exported(warmth: Measure) -> None:
    assert amount("warmth", 4.5) == "4.5 K"
    assert list(value_problems("warmth", "total", 300, "mK")) == []
    assert any("wanted one of K, mK" in p for p in value_problems("warmth", "total", 1, "C"))
    shown = metric_of("warmth")
    assert shown is not None
    assert shown.name == "brownout_impact_kelvin"


def test_a_share_is_bound_to_one_and_what_means_times_is_not() -> None:
    assert list(value_problems("availability", "total", 3))
    assert list(value_problems("budget_share", "total", 3)) == []
    assert list(value_problems("budget_share", "total", 300, "%")) == []
    budget, availability = find("budget_share"), find("availability")
    assert budget is not None
    assert availability is not None
    assert (budget.unit, availability.unit) == (TIMES, RATIO)


def test_every_unit_is_found_by_its_name_and_can_be_written_in_itself() -> None:
    for name, unit in UNITS.items():
        assert unit.scales[name] == 1.0
        assert Measure(name="any", unit=name, label="any").unit is unit  # type: ignore[arg-type]


def test_a_value_beside_its_limit_has_four_digits_and_its_unit() -> None:
    worded = [
        SECONDS.beside_its_limit(12.345),
        RATIO.beside_its_limit(0.99123),
        UNITS["us"].beside_its_limit(4200.0),
        UNITS["writes"].beside_its_limit(1523),
    ]
    assert worded == ["12.35 s", "99.12 %", "4.2 ms", "1,523 writes"]
