"""A generator that is lost makes the run inconclusive, by name; the others end as they should."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.load.group.known import SCRIPT, STREAMS, begin
from tests.loadgen.driving import Server
from tests.waiting import await_true
from tests.wording import mentions

from brownout.base.errors import GeneratorError
from brownout.judge.analysis import analyze
from brownout.load.group import GeneratorGroup
from brownout.load.group import group as groups
from brownout.load.place import Here
from brownout.run.directory import RunDirectory
from brownout.run.series import read_series

pytestmark = pytest.mark.live


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "20261122T101500Z-load-4711"
    path.mkdir()
    RunDirectory(path).write_metadata({"workload": {"streams": list(STREAMS)}, "limits": []})
    return path


@pytest.fixture
def group(tmp_path: Path, run: Path) -> Iterator[GeneratorGroup]:
    with (
        Server(tmp_path / "server", SCRIPT) as server,
        GeneratorGroup(run, None, [Here()] * 2) as group,
    ):
        begin(group, server, run)
        await_true(lambda: (group.now() or 0.0) > 1.5, "the load goes on")
        yield group


def check(run: Path, why: str) -> None:
    """Fail unless the run says which generator was lost, and judges nothing."""
    impact = analyze(run)
    assert impact.verdict == "inconclusive"
    (reason,) = [r for r in impact.reasons if r.startswith("generator_finished")]
    assert mentions(reason, "2 of 2", "here")
    assert why in reason
    assert impact.ledger.state == "unknown"
    summary = json.loads((run / "generator.json").read_text())
    assert summary["ended"] is False
    assert [part.get("ended") for part in summary["parts"]] == [True, False]


def test_one_that_is_killed_is_named_and_the_other_ends_as_it_should(
    group: GeneratorGroup, run: Path
) -> None:
    os.kill(group.pids[1], signal.SIGKILL)
    await_true(lambda: not group.alive, "it is noticed")
    with pytest.raises(GeneratorError, match=r"generator 2 of 2 \(here\) was lost.*signal 9"):
        group.stop()
    assert not group.stopped
    group.close()
    ends = [len(read_series(run / "parts" / name).completion) for name in "01"]
    assert len(read_series(run).completion) == min(ends)
    check(run, "signal 9")


def test_one_that_falls_silent_is_lost(
    group: GeneratorGroup, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_SILENCE_S", 2.0)
    os.kill(group.pids[1], signal.SIGSTOP)
    await_true(lambda: not group.alive, "it is noticed")
    os.kill(group.pids[1], signal.SIGKILL)
    with pytest.raises(GeneratorError, match="it said nothing for 2 s"):
        group.stop()
    group.close()
    check(run, "it said nothing for 2 s")


def test_a_load_that_is_closed_without_a_stop_says_who_was_lost(
    group: GeneratorGroup, run: Path
) -> None:
    os.kill(group.pids[1], signal.SIGKILL)
    await_true(lambda: not group.alive, "it is noticed")
    assert mentions(group.obituary(), "2 of 2", "here")
    group.close()
    check(run, "signal 9")


def test_one_that_cannot_begin_ends_all(tmp_path: Path) -> None:
    """Errors of all generators are told at once, each with its name."""
    run = tmp_path / "run"
    for name in ("0", "1"):
        (run / "parts" / name).mkdir(parents=True)
        (run / "parts" / name / "series.csv").touch()  # of another run
    with (
        Server(tmp_path / "server", SCRIPT) as server,
        GeneratorGroup(run, None, [Here()] * 2) as group,
        pytest.raises(GeneratorError) as caught,
    ):
        begin(group, server, run)
    for name in ("generator 1 of 2 (here): ", "; generator 2 of 2 (here): "):
        assert name in str(caught.value)
    assert not group.alive
    assert not (run / "parts.json").exists()
