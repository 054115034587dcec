"""Repeats of the fixture, on runs that others have made."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.impacts import made
from tests.wording import mentions

from brownout.base.errors import Aborted, UndoFailed
from brownout.session.experiment_process import Outcome
from brownout.testing import resilience
from brownout.testing.errors import RunInconclusive
from brownout.testing.resilience import Resilience


class Scripted:
    """Stands for the processes: each run ends as the next verdict says, with these reasons."""

    def __init__(self, verdicts: Iterator[str], reasons: Sequence[str]) -> None:
        self._verdicts, self._reasons, self.count = verdicts, reasons, 0

    def __call__(self, path: Path, variables: Sequence[str]) -> Outcome:
        self.count += 1
        document = {"run_id": f"run-{self.count}", "verdict": next(self._verdicts)}
        impact = made({**document, "reasons": list(self._reasons)})
        return Outcome(path.parent / f"run-{self.count}", impact, None)


def scripted(monkeypatch: pytest.MonkeyPatch, *verdicts: str, reasons: Sequence[str]) -> Scripted:
    runs = Scripted(iter(verdicts), reasons)
    monkeypatch.setattr(resilience, "_outcome", runs)
    return runs


def test_a_ctrl_c_ends_the_other_tests_too_where_the_run_leaves_something_broken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @contextmanager
    def stopped(*_: object) -> Iterator[None]:
        raise UndoFailed("n1 is still frozen")
        yield

    monkeypatch.setattr(resilience, "ExperimentProcess", stopped)
    with pytest.raises(KeyboardInterrupt, match="n1 is still frozen"):
        resilience._outcome(tmp_path, ())


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "aborted"])
def test_an_aborted_run_is_the_last_whatever_its_verdict(
    monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    runs = scripted(monkeypatch, *[verdict] * 9, reasons=["aborted: a person stopped it"])
    repeats = Resilience(["lab-etcd"], None, lambda name, value: None)
    with pytest.raises(Aborted) as error:
        repeats.repeat("node-kill", times=3, own_limits=False)
    assert runs.count == 1
    assert mentions(str(error.value), "aborted", "run-1"), error.value


def test_runs_that_no_limit_judges_are_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = scripted(monkeypatch, *["inconclusive"] * 9, reasons=["no limit is set to judge by"])
    repeats = Resilience(["lab-etcd"], None, lambda name, value: None)
    with pytest.raises(RunInconclusive) as error:
        repeats.repeat("slow-node", times=2)  # it has no limits for etcd
    assert runs.count == 2
    assert mentions(str(error.value), "0 of 2", "limit")
    assert str(error.value).count("<run run-") == 2
