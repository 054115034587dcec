"""AWS FIS by its own program: a STAND-IN for `aws`, which prints answers as FIS publishes them."""

import json
import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.faults.others.breaker import Breaker, experiment
from tests.faults.others.recorded import fis
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError, NoAnswer
from brownout.faults.others.fis import Fis
from brownout.inventory.model import Cluster

STOP = "aws:ec2:stop-instances"
#: Prints the answer beside it; without one it fails as the real program does.
AWS = f"""#!{sys.executable}
import pathlib, sys
place = pathlib.Path(__file__).parent
(place / "asked").write_text(" ".join(sys.argv[1:]))
try:
    print((place / "answer.json").read_text())
except OSError:
    sys.exit("An error occurred (ResourceNotFoundException) when calling the GetExperiment")
"""


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the program, which comes first in PATH."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "aws").write_text(AWS)
    (place / "aws").chmod(0o755)
    monkeypatch.setenv("PATH", str(place), prepend=":")
    return place


def test_an_experiment_is_asked_for_by_its_id_in_its_region(aws: Path) -> None:
    (aws / "answer.json").write_text(json.dumps(fis("running", stop=(STOP, 1.0, None, "running"))))
    account = Fis("EXPorders1", region="eu-central-1").look()
    assert account is not None
    assert account.state == "running"
    asked = (aws / "asked").read_text()
    assert asked.startswith("fis get-experiment --id EXPorders1 --output json")
    assert asked.endswith("--region eu-central-1")


def test_what_the_program_says_is_passed_on(aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match=naming("ResourceNotFoundException", "EXPgone")):
        Fis("EXPgone").look()
    with pytest.raises(ConfigurationError, match=naming("'--profile'")):
        Fis("--profile")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigurationError, match=naming("aws", "PATH")):
        Fis("EXPorders1")


THROTTLED = "An error occurred (ThrottlingException) when calling the GetExperiment operation"
UNREACHED = 'Could not connect to the endpoint URL: "https://fis.eu-central-1.amazonaws.com/"'
READ = 'Read timeout on endpoint URL: "https://fis.eu-central-1.amazonaws.com/"'
DENIED = "An error occurred (AccessDeniedException) when calling the GetExperiment operation"


@pytest.mark.parametrize(
    ("words", "unknown"), [(THROTTLED, True), (UNREACHED, True), (READ, True), (DENIED, False)]
)
def test_only_what_may_go_well_when_asked_again_is_no_answer(
    aws: Path, words: str, *, unknown: bool
) -> None:
    (aws / "aws").write_text(f"#!{sys.executable}\nimport sys\nsys.exit({words!r})\n")
    with pytest.raises(ClusterError) as caught:
        Fis("EXPorders1").look()
    assert isinstance(caught.value, NoAnswer) == unknown
    assert words in str(caught.value)


@pytest.mark.live
@pytest.mark.matrix
def test_a_run_measures_what_fis_says_that_it_did(
    lab_etcd: Cluster, aws: Path, tmp_path: Path
) -> None:
    times: dict[str, float] = {}

    def say(operation: str, node: str, t: float) -> None:
        times[operation] = t
        over = "Recover" in times
        state = "completed" if over else "running"
        answer = fis(state, stop=(STOP, times["Apply"], times.get("Recover"), state))
        (aws / "new").write_text(json.dumps(answer))
        (aws / "new").rename(aws / "answer.json")

    (aws / "answer.json").write_text(
        json.dumps(fis("initiating", stop=(STOP, None, None, "pending")))
    )
    breaker = Breaker(lab_etcd, tmp_path / "runs", say)
    breaker.start()
    ran = chaos.run(experiment(lab_etcd, "fis", {"experiment": "EXPorders1"}), tmp_path)
    breaker.join(10)
    (fault,) = ran.impact["faults"]
    broken, mended = fault["events"]
    assert (broken["evidence"]["by"], broken["evidence"]["state"]) == ("AWS FIS", "running")
    assert broken["evidence"]["targets"][0].startswith("arn:aws:ec2:")
    assert mended["effective"] - broken["effective"] == pytest.approx(
        times["Recover"] - times["Apply"], abs=0.1
    )
    assert broken["uncertainty"] < 0.05  # FIS's times have fractions of a second
    assert fault["blackout"] > 0.2
    assert ran.impact["verdict"] == "pass", ran.output
