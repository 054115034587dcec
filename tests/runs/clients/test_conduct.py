"""Making a comparison of clients, with experiments that are over at once, and on a real lab."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
import yaml
from tests.cli.conftest import Brownout
from tests.runs.clients.comparisons import record_of, write_comparison
from tests.wording import mentions

from brownout.base.errors import Aborted, Inconclusive, RunDirectoryError, UndoFailed
from brownout.base.wait import wait_until
from brownout.faults import open_runs
from brownout.infra import lab
from brownout.infra.lab.inspect import condition
from brownout.inventory.model import Cluster
from brownout.measure.impact import UNKNOWN
from brownout.runs import repair
from brownout.runs.clients import conduct as conducting
from brownout.runs.clients.conduct import conduct
from brownout.runs.clients.record import ClientsRun, Record, last, open_record
from brownout.session.experiment_process import Outcome

ROOT = Path(__file__).parents[3]


class Scripted:
    """Stands for processes of experiments: each ends as the next word of `ends` says."""

    def __init__(self, ends: Sequence[str]) -> None:
        self._ends = iter(ends)
        self.workloads: list[str] = []

    def __call__(self, experiment: Path, variables: Sequence[str], **_: Any) -> Self:
        own = dict(each.split("=", 1) for each in variables if "=" in each)
        self.workloads.append(Path(own["workload"]).stem)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def outcome(self) -> Outcome:
        end = next(self._ends)
        if end == "killed":
            raise KeyboardInterrupt
        run = Path("runs") / f"run-{len(self.workloads)}"
        broken = "n2 is still stopped" if "broken" in end else None
        impact = replace(UNKNOWN, verdict=end.removesuffix(" and broken").replace("broken", "fail"))
        return Outcome(run, impact, broken)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scripted]:
    """Script what runs come to, on a cluster that is there and whole."""

    def cluster(declared: Cluster, **_: Any) -> tuple[Cluster, bool]:
        return declared, True

    monkeypatch.setattr(lab, "ensure", cluster)
    monkeypatch.setattr(repair, "await_whole", lambda *_: "")
    monkeypatch.setattr(repair, "take_down", lambda *_: None)

    def scripted(*ends: str) -> Scripted:
        processes = Scripted(ends)
        monkeypatch.setattr(conducting, "ExperimentProcess", processes)
        return processes

    return scripted


def verdicts(record: Record) -> list[tuple[str, str]]:
    return [(each.group, each.verdict) for each in record.runs]


def test_what_is_not_judged_is_run_again(home: Path, script: Callable[..., Scripted]) -> None:
    comparison, record = record_of(home)
    script("pass", "inconclusive", "fail", "fail")
    conduct(comparison, record, lambda _: None)
    assert [verdict for _, verdict in verdicts(record)] == ["pass", "inconclusive", "fail", "fail"]
    assert (bool(record.ended), record.up) == (True, "")
    assert open_record(record.path) == (record, comparison)


def test_runs_that_are_not_judged_are_made_again_only_so_often(
    home: Path, script: Callable[..., Scripted]
) -> None:
    comparison, record = record_of(home, again=1)
    script("inconclusive", "inconclusive")
    conduct(comparison, record, lambda _: None)
    assert len(record.runs) == 2


def test_clients_apart_are_each_run_once_and_then_again(
    home: Path, script: Callable[..., Scripted]
) -> None:
    comparison, record = record_of(home, together=False, repeats=2)
    processes = script("pass", "fail", "pass", "fail")
    conduct(comparison, record, lambda _: None)
    assert processes.workloads == ["app", "orders", "app", "orders"]
    workload = yaml.safe_load(record.workload("orders").read_text())
    assert [stream["name"] for stream in workload["streams"]] == ["driver", "orders"]


def test_a_comparison_that_was_interrupted_continues_with_the_next_run(
    home: Path, script: Callable[..., Scripted]
) -> None:
    comparison, record = record_of(home)
    script("pass", "killed")
    with pytest.raises(KeyboardInterrupt):
        conduct(comparison, record, lambda _: None)
    kept, comparison = open_record(record.path)
    assert verdicts(kept) == [("together", "pass")]
    assert not kept.ended
    left = script("pass", "pass")
    conduct(comparison, kept, lambda _: None)
    assert len(left.workloads) == 2
    assert kept.ended


def test_a_cluster_that_is_still_broken_gets_no_further_run(
    home: Path, script: Callable[..., Scripted]
) -> None:
    comparison, record = record_of(home)
    script("broken")
    with pytest.raises(UndoFailed, match="n2 is still stopped"):
        conduct(comparison, record, lambda _: None)
    assert len(open_record(record.path)[0].runs) == 1


def test_a_record_that_cannot_be_written_does_not_hide_that_something_is_broken(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison, record = record_of(home)
    script("broken")
    monkeypatch.setattr(conducting, "condition", lambda _: "up")

    def full_disk(_: Record) -> None:
        raise RunDirectoryError("cannot be written")

    monkeypatch.setattr(Record, "save", full_disk)
    with pytest.raises(UndoFailed, match="n2 is still stopped"):
        conduct(comparison, record, lambda _: None)


def test_no_client_is_compared_on_a_stand_in(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stand_in(declared: Cluster, **_: Any) -> tuple[Cluster, bool]:
        assert declared.lab is not None
        return declared.model_copy(update={"lab": declared.lab.changed(stand_in=True)}), True

    monkeypatch.setattr(lab, "ensure", stand_in)
    comparison, record = record_of(home)
    script()
    with pytest.raises(Inconclusive, match="wanted a real server"):
        conduct(comparison, record, lambda _: None)


def test_a_run_that_was_aborted_is_not_kept(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Outcome, "was_aborted", property(lambda _: True))
    comparison, record = record_of(home)
    script("aborted")
    with pytest.raises(Aborted):
        conduct(comparison, record, lambda _: None)
    assert open_record(record.path)[0].runs == []


def test_a_run_that_was_aborted_and_not_put_back_says_that_something_is_broken(
    home: Path, script: Callable[..., Scripted]
) -> None:
    comparison, record = record_of(home)
    script("aborted and broken")
    with pytest.raises(UndoFailed, match="n2 is still stopped"):
        conduct(comparison, record, lambda _: None)
    assert open_record(record.path)[0].runs == []


def test_only_an_unfinished_comparison_that_is_as_it_was_is_resumed(
    home: Path, brownout: Brownout
) -> None:
    path = write_comparison(home)
    none = brownout("clients", "run", path, "--resume")
    assert (none.code, mentions(none.err, "tiny", "--resume")) == (64, True)
    _, record = record_of(home)
    write_comparison(home, repeats=7)
    other = brownout("clients", "run", path, "--resume")
    assert (other.code, mentions(other.err, path)) == (64, True)
    write_comparison(home)
    record.ended = "2026-11-28T00:00:00Z"
    record.save()
    over = brownout("clients", "run", path, "--resume")
    assert (over.code, mentions(over.err, str(record.path), "--resume")) == (64, True)


def test_a_plan_of_a_comparison_that_was_begun_counts_what_is_left(
    home: Path, brownout: Brownout
) -> None:
    _, record = record_of(home)
    record.runs.append(ClientsRun("together", "pass", "", 1, 60.0))
    record.save()
    plan = brownout("clients", "plan", home / "tiny.yaml")
    assert plan.code == 0
    assert "2 runs" in plan.out
    assert "--resume" in plan.out


def test_what_is_not_a_record_is_refused(home: Path) -> None:
    (home / "clients.json").write_text('{"schema_version": 1}')
    with pytest.raises(RunDirectoryError, match="not the record of a comparison"):
        open_record(home)


@pytest.mark.matrix
@pytest.mark.timeout(900)
def test_a_comparison_that_is_killed_leaves_nothing_broken_and_is_resumed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two settings of one client on a switchover, which share each run."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "labs"))
    clients = ROOT / "infra" / "clients"
    command = [sys.executable, str(clients / "entry.py"), sys.executable,
               str(clients / "sqlalchemy_postgresql.py")]  # fmt: skip
    options = {"pool_size": 5, "max_overflow": 0, "pool_pre_ping": True}
    rows = [
        {"name": "default", "command": command, "options": options},
        {"name": "cured", "command": command, "options": {**options, "invalidate_on": ["25006"]}},
    ]
    path = write_comparison(
        home, cluster="lab-postgresql", clients=rows, repeats=2,
        variables={"milestone_limit_s": 40},
    )  # fmt: skip
    run = [sys.executable, "-m", "brownout", "clients", "run", str(path)]

    def in_a_second_run() -> bool:
        begun = last("tiny")
        return (
            begun is not None
            and len(begun.runs) >= 1
            and any(claim.kind == "run" for claim in open_runs.claims())
        )

    with subprocess.Popen(run) as comparison:
        assert wait_until(in_a_second_run, 300.0, 0.5)
        comparison.send_signal(signal.SIGKILL)
    before = last("tiny")
    assert before is not None
    assert (before.up, bool(before.ended)) == ("lab-postgresql", False)
    subprocess.run([*run, "--resume"], check=False, timeout=500)
    after = open_record(before.path)[0]
    assert after.runs[: len(before.runs)] == before.runs
    assert (after.up, bool(after.ended)) == ("", True)
    assert condition("lab-postgresql") == "down"
    assert open_runs.claims() == []
    # Whether the default is ever served again depends on when the old primary returns: the traps of
    # docs/client.md have their own test.
    default, cured = json.loads((before.path / "figures.json").read_text())["clients"]
    assert all(each["served_again_s"] is not None for each in default["runs"])
    assert all(each["served_again_s"] < 60 for each in cured["runs"])
    assert all(each["lost_writes"] == 0 for each in default["runs"] + cured["runs"])
