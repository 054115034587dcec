"""Experiments, whatever is in them: checked and planned, or refused in words."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import answers, changed, fuzzed

from brownout.base import catalog
from brownout.session.experiment_checks import problems, read_experiment
from brownout.session.plan_file import plan_of

SHIPPED = {
    name: json.loads(catalog.read("experiments", name)) for name in catalog.names("experiments")
}


@st.composite
def experiments(draw: st.DrawFn) -> Any:
    """A shipped experiment with some places of it changed."""
    return draw(changed(SHIPPED[draw(st.sampled_from(sorted(SHIPPED)))]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "experiment.json"


@fuzzed(150)
@given(odd=experiments())
def test_a_damaged_experiment_is_checked_or_refused(place: Path, odd: Any) -> None:
    place.write_text(json.dumps(odd))
    found = answers(lambda: problems(read_experiment(place)))
    assert all(problem.strip() for problem in found or [])


@fuzzed(150)
@given(odd=experiments())
def test_a_damaged_experiment_is_planned_or_refused(place: Path, odd: Any) -> None:
    place.write_text(json.dumps(odd))
    answers(lambda: plan_of(str(place), []))
