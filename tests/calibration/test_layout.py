"""Scenarios of one setup follow one another, with room for each to be measured."""

import pytest

from brownout.base.errors import ConfigurationError
from brownout.calibration import catalogue
from brownout.calibration.layout import lay_out, settings_for
from brownout.calibration.scenario import Setup


@pytest.mark.parametrize("quick", [True, False])
def test_every_scenario_is_placed_once_and_none_touches_another(quick: bool) -> None:
    scenarios = catalogue.every(quick)
    settings = settings_for(quick)
    plans = lay_out(scenarios, settings, seed=1)
    placed = [one for plan in plans for one in plan.placed]
    assert sorted(one.scenario.name for one in placed) == sorted(s.name for s in scenarios)
    for plan in plans:
        ends = [one.at + one.scenario.length_s + settings.hold_s for one in plan.placed[:-1]]
        for end, after in zip(ends, plan.placed[1:], strict=True):
            assert end + plan.setup.deadline_s < after.at
        assert plan.seconds >= plan.placed[-1].until
        if plan.setup.baseline:
            assert plan.placed[0].at >= settings.baseline_s + settings.baseline_gap_s


def test_the_effects_of_each_scenario_are_those_of_the_script() -> None:
    for plan in lay_out(catalogue.every(), settings_for(False), seed=1):
        for one in plan.placed:
            scripted = [plan.script["effects"][index] for index in one.effects]
            assert len(scripted) == len(one.scenario.effects)
            for made, meant in zip(scripted, one.scenario.effects, strict=True):
                assert made["at"] == pytest.approx(one.at + meant["at"], abs=0.001)


def test_what_never_ends_comes_last() -> None:
    for plan in lay_out(catalogue.every(), settings_for(False), seed=1):
        assert not any(one.scenario.last for one in plan.placed[:-1])


def test_faults_begin_anywhere_within_a_bucket_and_again_by_the_same_seed() -> None:
    plans = [lay_out(catalogue.every(), settings_for(False), seed=seed) for seed in (1, 1, 2)]
    begins = [[one.at for plan in made for one in plan.placed] for made in plans]
    assert begins[0] == begins[1] != begins[2]
    assert len({round(at * 1000) % 100 for at in begins[0]}) > 10


def test_a_name_that_nothing_begins_with_is_told() -> None:
    assert {s.name for s in catalogue.chosen(["dip-5%"])} == {
        f"dip-5%-{length}s" for length in ("0.3", "1", "5", "40")
    }
    with pytest.raises(ConfigurationError, match="dop"):
        catalogue.chosen(["dip", "dop"])


def test_poisson_arrivals_scatter_by_the_root_of_their_rate() -> None:
    assert Setup("x", rate=400, arrivals="poisson").noise == pytest.approx(0.05)
    assert Setup("x", rate=400).noise == 0.0
