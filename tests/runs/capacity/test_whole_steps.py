"""Steps on a server whose capacity is known, driven by the real generator."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.runs.capacity.known import paced_server, workload

from brownout.runs.capacity.judgement import Terms
from brownout.runs.capacity.search import Probe, Settings
from brownout.runs.capacity.session import Hunt, search_after
from brownout.runs.capacity.step import Step, Steps
from brownout.runs.capacity.whole_steps import Lengths, WholeSteps

#: So many operations a second the server does, one after the other, whatever the machine does.
CAPACITY = 600.0
SHORT = Lengths(step_s=1.5, confirm_s=2.0, settle_s=0.5)
#: A busy machine of two cores is late now and then; what is looked at here is the server.
PATIENT = Terms(lag_p99_max_ms=1000.0, missed_ratio_max=0.5)


def steps_on(target: Mapping[str, Any], directory: Path, **more: Any) -> WholeSteps:
    """Steps on the server that `target` names."""
    settings = {"lengths": SHORT, "terms": PATIENT, **more}
    return WholeSteps(workload(), lambda: target, directory, 1, **settings)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Any:
    script = {"lanes": 1, "ops_per_s": CAPACITY, "latency_ms": 1}
    with paced_server(tmp_path_factory.mktemp("server"), script) as found:
        yield found


@pytest.mark.quiet
def test_a_known_capacity_is_found_within_a_few_percent(target: Any, tmp_path: Path) -> None:
    kept, said = Steps(tmp_path / "steps.ndjson"), list[Step]()
    # A breach takes a queue of 0.1 s to show: in 3 s one of 3 % of the rate has grown so long.
    settings = Settings(480, factor=1.6, precision=0.05)
    found = Hunt("whole", settings, kept, steps_on(target, tmp_path).make, said.append).run()
    assert found.rate is not None
    assert found.rate <= 1.05 * CAPACITY
    assert found.confirmed
    # Only a step for which the generator was late may leave open what lies above.
    late = [step.rate for step in said if step.verdict == "limited"]
    assert found.bound == "exact" or (found.bound == "at least" and late)
    # It is as near to what did not hold as was asked: to the capacity, or to what was too much for
    # the generator.
    assert found.rate >= 0.93 * (CAPACITY if found.bound == "exact" else min(*late, CAPACITY))
    assert kept.read() == said
    assert search_after(settings, kept.read(), "whole").next() is None


@pytest.mark.live
def test_a_rate_far_above_breaches_with_its_reasons(target: Any, tmp_path: Path) -> None:
    step = steps_on(target, tmp_path).make(Probe(1500, "step"), 1)
    assert step.verdict == "breach"
    assert step.achieved is not None
    assert step.achieved < 0.9
    assert any("errors" in reason for reason in step.reasons)


@pytest.mark.live
def test_a_generator_that_was_late_says_nothing_of_the_database(
    target: Any, tmp_path: Path
) -> None:
    step = steps_on(target, tmp_path, terms=Terms(lag_p99_max_ms=0.0)).make(Probe(100, "step"), 1)
    assert step.verdict == "limited"
    assert "the load generator was late" in step.reasons[0]


@pytest.mark.live
def test_a_step_that_was_cut_short_is_made_again_beside_what_it_left(
    target: Any, tmp_path: Path
) -> None:
    left = tmp_path / "steps" / "001-100"
    left.mkdir(parents=True)
    (left / "generator.json").write_text("{}")
    step = steps_on(target, tmp_path).make(Probe(100, "step"), 1)
    assert step.verdict in ("holds", "breach")  # how fast it was is not tested
    assert step.run.endswith("001-100-again1")
    assert (left / "generator.json").read_text() == "{}"


def test_what_is_before_a_step_can_stop_it_with_nothing_done(target: Any, tmp_path: Path) -> None:
    def before() -> None:
        raise RuntimeError("not whole")

    with pytest.raises(RuntimeError, match="not whole"):
        steps_on(target, tmp_path, before=before).make(Probe(100, "step"), 1)
    assert list(tmp_path.iterdir()) == []
