"""Repeats differ by what one seed draws, and can be made again."""

from typing import Any

import pytest

from brownout.runs.repeats.draw import draws

EXPERIMENT: dict[str, Any] = {
    "configuration": {"seed": 0, "target": "primary", "phase_s": 0},
    "extensions": [{"name": "brownout", "needs": ["kill"]}],
}


def test_one_seed_draws_the_same_repeats_again_and_another_draws_others() -> None:
    made = [draws(EXPERIMENT, 5, seed, 10.0, ()) for seed in (7, 7, 8)]
    assert made[0] == made[1] != made[2]
    assert len({draw.seed for draw in made[0]}) == 5


def test_each_repeat_has_its_own_seed_phase_and_any_node() -> None:
    (draw,) = draws(EXPERIMENT, 1, 7, 10.0, ())
    names = {text.split("=")[0] for text in draw.variables}
    assert names == {"seed:int", "phase_s:float", "target"}
    assert "target=random" in draw.variables
    phase = next(text for text in draw.variables if text.startswith("phase_s"))
    assert 0.0 <= float(phase.split("=")[1]) <= 10.0


def test_what_is_given_is_not_drawn() -> None:
    (draw,) = draws(EXPERIMENT, 1, 7, 10.0, ("target=n2", "phase_s:float=3"))
    assert draw.variables[:2] == ("target=n2", "phase_s:float=3")
    assert [text.split("=")[0] for text in draw.variables[2:]] == ["seed:int"]


def test_a_stepdown_can_only_be_of_the_primary() -> None:
    stepdown = {**EXPERIMENT, "extensions": [{"name": "brownout", "needs": ["stepdown"]}]}
    (draw,) = draws(stepdown, 1, 7, 10.0, ())
    assert not any(text.startswith("target") for text in draw.variables)


@pytest.mark.parametrize("target", ["role=secondary", "rack", "rack=east", "spare"])
def test_a_target_of_several_nodes_or_of_none_stays_what_it_is(target: str) -> None:
    configuration = {"target": {"type": "env", "key": "BROWNOUT_TARGET", "default": target}}
    (draw,) = draws({**EXPERIMENT, "configuration": configuration}, 1, 7, 10.0, ())
    assert not any(text.startswith("target") for text in draw.variables)


def test_what_every_run_can_be_told_is_drawn_whether_the_experiment_names_it_or_not() -> None:
    (draw,) = draws({"configuration": {}}, 1, 7, 10.0, ())
    assert [text.split("=")[0] for text in draw.variables] == [
        "seed:int",
        "phase_s:float",
        "target",
    ]
