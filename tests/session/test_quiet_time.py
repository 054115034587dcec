"""Time before the fault in which nothing is broken, under the real generator."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brownout.base.errors import GeneratorError
from brownout.calibration.scenario import Setup
from brownout.calibration.trial import scripted_server, workload_of
from brownout.load.generator import Generator
from brownout.run.events import EventLog, read_events
from brownout.session.quiet_time import control_window, leave_alone


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Generator]:
    """A load that runs, on the scripted server."""
    workload = workload_of(Setup("even", rate=200.0, keys=100))
    with scripted_server(tmp_path, {"lanes": 1}, tmp_path / "truth.json") as address:
        spec = workload.to_spec(
            directory=tmp_path / "run", seed=1, writer="test", driver="scripted",
            connection={"uri": f"scripted://{address}"}, options={},
        )  # fmt: skip
        with Generator(tmp_path / "run") as generator:
            generator.open(spec)
            generator.load()
            generator.start()
            yield generator


def test_a_control_window_is_written_down_from_when_to_when(
    loaded: Generator, tmp_path: Path
) -> None:
    path = tmp_path / "events.ndjson"
    control_window(EventLog(path, clock=loaded.now), loaded, 0.5)
    (event,) = read_events(path)
    assert (event.type, event.name) == ("sham", "control_window")
    assert event.effective is not None
    assert event.ended is not None
    assert event.ended - event.effective >= 0.5


def test_a_load_that_dies_meanwhile_ends_the_wait(loaded: Generator) -> None:
    loaded.close()
    with pytest.raises(GeneratorError, match="before anything was broken"):
        leave_alone(loaded, 60.0)
