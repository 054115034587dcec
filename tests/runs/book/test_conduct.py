"""Making a book, with experiments that are over at once, and killing one on a real lab."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import Brownout
from tests.runs.book.made import BOOK, record_of, write_book
from tests.wording import mentions

from brownout.base.errors import Aborted, RunDirectoryError, UndoFailed, Unsupported
from brownout.base.wait import wait_until
from brownout.faults import open_runs
from brownout.infra import lab
from brownout.infra.lab.inspect import condition
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.measure.impact import UNKNOWN
from brownout.runs import repair
from brownout.runs.book import conduct as conducting
from brownout.runs.book.conduct import conduct
from brownout.runs.book.record import BookRun, Record, last, open_record
from brownout.session.experiment_process import Outcome


class Scripted:
    """Stands for processes of experiments: each ends as the next word of `ends` says."""

    def __init__(self, ends: Sequence[str]) -> None:
        self._ends = iter(ends)
        self.made: list[Path] = []

    def __call__(self, experiment: Path, variables: Sequence[str], **_: Any) -> Self:
        self.made.append(experiment)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def outcome(self) -> Outcome:
        end = next(self._ends)
        if end == "killed":
            raise KeyboardInterrupt
        broken = "n2 is still stopped" if "broken" in end else None
        impact = replace(UNKNOWN, verdict=end.removesuffix(" and broken"))
        return Outcome(Path("runs") / f"run-{len(self.made)}", impact, broken)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scripted]:
    """Script what runs come to, on clusters that are there and whole and can do everything."""

    def clusters(declared: Cluster, **_: Any) -> tuple[Cluster, bool]:
        return declared, True

    class Silent:
        def close(self) -> None:
            pass

    monkeypatch.setattr(lab, "ensure", clusters)
    monkeypatch.setattr(conducting, "adapter_for", lambda _: Silent())
    monkeypatch.setattr(conducting, "check_support", lambda *_: None)
    monkeypatch.setattr(repair, "await_whole", lambda *_: "")
    monkeypatch.setattr(repair, "take_down", lambda *_: None)

    def scripted(*ends: str) -> Scripted:
        made = Scripted(ends)
        monkeypatch.setattr(conducting, "ExperimentProcess", made)
        return made

    return scripted


def verdicts(record: Record) -> list[tuple[str, str]]:
    return [(each.fault, each.verdict) for each in record.made]


ONE = {"engines": [BOOK["engines"][0]], "repeats": 2}


def test_each_fault_is_run_once_and_then_again_and_what_is_not_judged_is_repeated(
    home: Path, script: Callable[..., Scripted]
) -> None:
    book, record = record_of(home, **ONE)
    script("pass", "fail", "inconclusive", "pass", "pass")
    conduct(book, record, lambda _: None)
    assert verdicts(record) == [
        ("kill", "pass"), ("handover", "fail"), ("kill", "inconclusive"), ("handover", "pass"),
        ("kill", "pass"),
    ]  # fmt: skip
    assert (bool(record.ended), record.up) == (True, "")
    assert open_record(record.path)[0] == record


def test_a_book_that_was_interrupted_goes_on_with_the_next_run(
    home: Path, script: Callable[..., Scripted]
) -> None:
    book, record = record_of(home, **ONE)
    script("pass", "killed")
    with pytest.raises(KeyboardInterrupt):
        conduct(book, record, lambda _: None)
    kept, book = open_record(record.path)
    assert verdicts(kept) == [("kill", "pass")]
    left = script("pass", "pass", "pass")
    conduct(book, kept, lambda _: None)
    assert [path.stem for path in left.made] == ["stepdown", "node-kill", "stepdown"]
    assert len(kept.made) == 4


def test_a_run_that_was_aborted_is_made_again(home: Path, script: Callable[..., Scripted]) -> None:
    book, record = record_of(home, **ONE)
    script("pass", "aborted")
    with pytest.raises(Aborted):
        conduct(book, record, lambda _: None)
    assert verdicts(open_record(record.path)[0]) == [("kill", "pass")]


def test_a_run_that_was_aborted_and_not_put_back_says_that_something_is_broken(
    home: Path, script: Callable[..., Scripted]
) -> None:
    book, record = record_of(home, **ONE)
    script("aborted and broken")
    with pytest.raises(UndoFailed, match="n2 is still stopped"):
        conduct(book, record, lambda _: None)
    assert open_record(record.path)[0].made == []


def test_a_record_that_cannot_be_written_does_not_hide_that_something_is_broken(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    book, record = record_of(home, **ONE)
    script("fail and broken")
    monkeypatch.setattr(conducting, "condition", lambda _: "up")

    def full_disk(made: Record) -> None:
        if made.made:
            raise RunDirectoryError("cannot be written")

    monkeypatch.setattr(Record, "save", full_disk)
    with pytest.raises(UndoFailed, match="n2 is still stopped"):
        conduct(book, record, lambda _: None)


def test_a_part_of_a_book_is_run_first_and_the_rest_is_resumed(
    home: Path, script: Callable[..., Scripted]
) -> None:
    book, record = record_of(home, repeats=1)
    script("pass", "pass")
    conduct(book, record, lambda _: None, book.only((), ["handover"]))
    assert [(each.engine, each.fault) for each in record.made] == [
        ("one", "handover"), ("two", "handover")
    ]  # fmt: skip
    assert not record.ended
    kept, book = open_record(record.path)
    script("pass")
    conduct(book, kept, lambda _: None, book.only(["two"], ()))
    assert (kept.made[-1].engine, kept.made[-1].fault) == ("two", "kill")
    assert not kept.ended
    script("pass")
    conduct(book, kept, lambda _: None)
    assert (len(kept.made), bool(kept.ended)) == (4, True)


def test_names_that_are_not_in_the_book_are_refused_at_once_before_anything_is_made(
    home: Path, brownout: Brownout
) -> None:
    path = write_book(home)
    for command in ("run", "plan"):
        refused = brownout("book", command, path, "--engine", "three", "--fault", "kil")
        assert refused.code == 64
        assert mentions(refused.err, "three", "kil", "`one`, `two`", "`kill`, `handover`")
    assert last("tiny") is None


def test_the_plan_of_a_part_counts_only_that_part(home: Path, brownout: Brownout) -> None:
    path = write_book(home)
    assert "1 cell, 5 runs" in brownout(
        "book", "plan", path, "--engine", "one", "--fault", "kill"
    ).out  # fmt: skip


def test_a_search_for_a_capacity_that_was_interrupted_goes_on(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[Path] = []

    def search(wanted: Any, where: Path, _: object) -> tuple[dict[str, Any], Path, int]:
        searched.append(where)
        code = 0 if len(searched) > 1 else Aborted.exit_code
        return {"capacity": {"rate": 400.0, "bound": "exact", "confirmed": True}}, where, code

    monkeypatch.setattr(conducting, "carry_out", search)
    book, record = record_of(home, **ONE)
    record.capacities.clear()
    script("pass", "pass", "pass", "pass")
    with pytest.raises(Aborted):
        conduct(book, record, lambda _: None)
    kept, book = open_record(record.path)
    assert kept.made == []
    conduct(book, kept, lambda _: None)
    assert len(kept.made) == 4
    assert [path.resolve() for path in searched] == [searched[0].resolve()] * 2
    assert json.loads((searched[0] / "wanted.json").read_text())["cluster"] == "lab-mongodb"


def test_a_fault_that_the_database_does_not_support_is_said_and_not_run(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_stepdown(plan: Any, *_: object) -> None:
        if plan.scenario == "stepdown":
            raise Unsupported("nobody hands over here")

    monkeypatch.setattr(conducting, "check_support", no_stepdown)
    book, record = record_of(home, **ONE)
    script("pass", "pass")
    conduct(book, record, lambda _: None)
    assert verdicts(record) == [("kill", "pass")] * 2
    assert record.unsupported == {"one": {"handover": "nobody hands over here"}}


def test_a_cluster_of_stand_ins_is_left_out(
    home: Path, script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stand_in(declared: Cluster, **_: Any) -> tuple[Cluster, bool]:
        assert declared.lab is not None
        return declared.model_copy(update={"lab": declared.lab.changed(stand_in=True)}), True

    monkeypatch.setattr(lab, "ensure", stand_in)
    book, record = record_of(home, **ONE)
    script()
    conduct(book, record, lambda _: None)
    assert record.made == []
    assert "wanted a real server" in record.refused["one"]


def test_only_an_unfinished_book_that_is_as_it_was_is_resumed(
    home: Path, brownout: Brownout
) -> None:
    path = write_book(home)
    none = brownout("book", "run", path, "--resume")
    assert (none.code, "found no book tiny to resume" in none.err) == (64, True)
    _, record = record_of(home)
    write_book(home, repeats=7)
    other = brownout("book", "run", path, "--resume")
    assert (other.code, mentions(other.err, path)) == (64, True)
    write_book(home)
    record.ended = "2026-11-25T00:00:00Z"
    record.save()
    over = brownout("book", "run", path, "--resume")
    assert (over.code, "nothing is left to run" in over.err) == (64, True)


def test_a_plan_of_a_book_that_was_begun_counts_what_is_left(
    home: Path, brownout: Brownout
) -> None:
    _, record = record_of(home)
    record.made.append(BookRun("one", "kill", 0.25, "pass", "", 1, 60.0))
    record.save()
    said = brownout("book", "plan", home / "tiny.yaml")
    assert said.code == 0
    assert "4 cells, 19 runs" in said.out
    assert "--resume" in said.out


@pytest.mark.matrix
@pytest.mark.timeout(600)
def test_a_book_that_is_killed_leaves_nothing_broken_and_is_resumed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "labs"))
    load = dict(pair.split("=") for pair in chaos.LOAD.split(",") if "rate" not in pair)
    path = write_book(
        home, engines=[BOOK["engines"][0]], faults=[BOOK["faults"][0]], repeats=2, shares=[0.5],
        load=load, variables={"baseline_s": 10},
        again=2, capacity={"sla": ["lookups.read.p99=900ms"], "start": 100, "max": 100,
                           "step_s": 2, "confirm_s": 2, "settle_s": 1, "precision": 0.5},
    )  # fmt: skip
    command = [sys.executable, "-m", "brownout", "book", "run", str(path)]
    cluster = inventory.declared("lab-mongodb").name

    def in_a_second_run() -> bool:
        begun = last("tiny")
        return (
            begun is not None
            and len(begun.made) >= 1
            and any(claim.kind == "run" for claim in open_runs.claims())
        )

    with subprocess.Popen(command) as book:
        assert wait_until(in_a_second_run, 240.0, 0.1)
        book.send_signal(signal.SIGKILL)
    before = last("tiny")
    assert before is not None
    assert (before.up, bool(before.ended)) == (cluster, False)
    subprocess.run([*command, "--resume"], check=False, timeout=400)
    after = open_record(before.path)[0]
    assert after.made[: len(before.made)] == before.made
    assert after.capacities == before.capacities
    assert (after.up, bool(after.ended)) == ("", True)
    assert condition(cluster) == "down"
    assert open_runs.claims() == []
