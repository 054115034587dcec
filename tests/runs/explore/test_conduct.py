"""Exploring a world whose truth is known, and a real cluster."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout
from tests.runs.explore.world import LAB, SPACE, loses_after_kill_and_pause
from tests.wording import mentions

from brownout.base.errors import Aborted, Inconclusive, RunDirectoryError, UndoFailed
from brownout.inventory import inventory
from brownout.runs.explore import conduct as conducting
from brownout.runs.explore.page import headline, write
from brownout.runs.explore.record import Record, Request, last, new, open_record
from brownout.runs.explore.schedule import Schedule
from brownout.session.experiment_checks import problems, read_experiment, resolved
from brownout.show.report import html


def test_the_sequence_that_breaks_the_promise_is_found_repeated_and_made_the_shortest(
    explore: Any,
) -> None:
    _, run = explore()
    record = new(Request(LAB, 5), 3200)
    run(record)
    finding = record.findings[0]
    assert [(s["fault"], s["node"]) for s in finding.shrunk] == [
        ("kill_node", "primary"), ("pause_node", "primary")
    ]  # fmt: skip
    assert all(step["lasts_s"] < 2 and step["gap_s"] == 0 for step in finding.shrunk)
    assert finding.oracle == "lost_writes"
    assert (finding.hits, finding.judged) == (finding.shrunk_hits, finding.shrunk_judged) == (5, 5)
    assert not finding.open


def test_it_is_written_as_an_experiment_that_anybody_can_run(explore: Any) -> None:
    _, run = explore()
    record = new(Request(LAB, 5), 3200)
    run(record)
    path = record.path / record.findings[0].experiment
    experiment = read_experiment(path)
    assert problems(experiment) == []
    assert experiment["configuration"]["limits"]["lost_writes"] == 0
    assert mentions(
        experiment["description"], f"brownout explore {LAB} --seed 5", "5 of 5 more runs"
    )


def test_only_the_cluster_that_was_named_is_explored_and_a_finding_goes_anywhere(
    explore: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_CLUSTER", "staging")
    process, run = explore()
    record = new(Request(LAB, 5), 3200)
    run(record)
    assert {_cluster_of(path) for path in process.experiments} == {LAB}
    assert {each.purpose for each in record.tries} == {"search", "repeat", "shrink"}
    assert _cluster_of(record.path / record.findings[0].experiment) == "staging"


def _cluster_of(experiment: Path) -> Any:
    return resolved(read_experiment(experiment), {})["cluster"]


def test_a_later_schedule_that_contains_the_shortest_is_not_another_finding(explore: Any) -> None:
    _, run = explore()
    record = new(Request(LAB, 5), 8000)
    run(record)
    (finding,) = record.findings
    assert len(finding.seen_again) > 5
    broke = {each.number for each in record.searched if each.broken}
    assert broke == {finding.number, *finding.seen_again}
    investigated = {each.number for each in record.tries if each.purpose != "search"}
    assert len(investigated) <= 2  # a pause of the primary, and of the secondary


def test_a_world_that_keeps_its_promise_yields_nothing(explore: Any) -> None:
    _, run = explore(lambda _: False)
    record = new(Request(LAB, 5), 3200)
    words = run(record)
    assert record.findings == []
    assert len(record.searched) == len(record.tries) == 80
    assert mentions(headline(record), "nothing broke the promise", "80 schedules")
    assert any("budget" in each for each in words)


def test_what_happened_once_and_not_again_stays_a_finding_and_says_so(explore: Any) -> None:
    runs: list[object] = []

    def once(breaks: list[tuple[str, str]]) -> bool:
        runs.append(breaks)
        return len(runs) == 1

    _, run = explore(once)
    record = new(Request(LAB, 5, repeats=3), 800)
    run(record)
    assert [(f.hits, f.judged, f.shrunk) for f in record.findings] == [
        (0, 3, record.findings[0].schedule)
    ]
    assert record.findings[0].open


@pytest.mark.parametrize("end", ["no effect", "not read back"])
def test_repeats_that_could_not_be_judged_are_not_counted_as_kept_promises(
    explore: Any, end: str
) -> None:
    _, run = explore(lambda _: True, ends=["", *[end] * 4])
    record = new(Request(LAB, 5, repeats=2), 180)
    run(record)
    (finding,) = record.findings
    assert (finding.hits, finding.judged) == (0, 0)
    assert "judged" in finding.open


def test_what_is_seen_while_something_else_is_shortened_is_a_finding_too(explore: Any) -> None:
    def loses_by_any_pause(breaks: list[tuple[str, str]]) -> bool:
        return any(fault == "pause_node" for fault, _ in breaks)

    garbles = ("pause_node", "secondary")
    _, run = explore(loses_by_any_pause, garbles=garbles)
    record = new(Request(LAB, 5, repeats=2), 3200)
    run(record)
    shrunk = {f.oracle: [(s["fault"], s["node"]) for s in f.shrunk] for f in record.findings}
    assert shrunk["garbled_answers"] == [garbles]


@pytest.mark.parametrize("after", [1, 7, 20])
def test_an_interrupted_exploration_continues_as_if_it_had_not_been(
    explore: Any, after: int
) -> None:
    def result(record: Record) -> list[Any]:
        tries = [(t.number, t.purpose, t.schedule, t.attempt, t.broken) for t in record.tries]
        return [tries, [asdict(f) | {"run": ""} for f in record.findings]]

    _, run = explore()
    whole = new(Request(LAB, 5), 3200)
    run(whole)
    _, run = explore(ends=[*[""] * after, "killed"])
    cut = new(Request(LAB, 5), 3200)
    with pytest.raises(KeyboardInterrupt):
        run(cut)
    where = last(LAB)
    assert where is not None
    again = open_record(where)
    assert len(again.tries) == after
    _, run = explore()
    run(again)
    assert result(again) == result(whole)


def test_a_finding_that_stayed_open_is_not_counted_again_where_a_later_one_explains_it(
    explore: Any,
) -> None:
    def open_at_first() -> Any:
        lost: list[object] = []

        def world(breaks: list[tuple[str, str]]) -> bool:
            lost.extend([breaks] * loses(breaks))
            return len(lost) == 1 or (len(lost) > 6 and loses(breaks))

        return world

    def loses(breaks: list[tuple[str, str]]) -> bool:
        return ("pause_node", "secondary") in breaks[1:] and loses_after_kill_and_pause(breaks)

    _, run = explore(open_at_first())
    whole = new(Request(LAB, 5), 6_000)
    run(whole)
    first, second = whole.findings
    assert first.open
    assert Schedule.of(first.schedule).contains(Schedule.of(second.shrunk))

    _, run = explore(open_at_first())
    cut = new(Request(LAB, 5), 4_000)
    run(cut)
    assert len(cut.findings) == 2
    again = open_record(cut.path)
    again.budget_s = 6_000
    _, run = explore(loses)
    run(again)
    kept = [[asdict(f) | {"run": ""} for f in record.findings] for record in (again, whole)]
    assert kept[0] == kept[1]
    assert first.number not in second.seen_again


def test_shares_of_one_seed_run_each_of_its_schedules_once(explore: Any) -> None:
    numbers = []
    for share in range(3):
        _, run = explore(lambda _: False)
        record = new(Request(LAB, 5, share=share, shares=3), 800)
        run(record)
        numbers += [each.number for each in record.tries]
    assert sorted(numbers) == list(range(1, 61))


def test_it_ends_where_runs_cannot_begin(explore: Any) -> None:
    _, run = explore(ends=["not begun"] * 5)
    record = new(Request(LAB, 5), 3200)
    with pytest.raises(Inconclusive):
        run(record)
    assert len(record.tries) == 3


def test_a_lab_that_could_not_be_put_back_is_rebuilt_and_that_is_a_finding(explore: Any) -> None:
    _, run = explore(lambda _: False, ends=["not put back"])
    record = new(Request(LAB, 5, repeats=2), 800)
    words = run(record)
    assert record.findings[0].oracle == "undo_failed"
    assert any("rebuilding" in each for each in words)
    assert len(record.tries) > 1


def test_an_aborted_run_is_not_kept_and_a_lab_that_it_left_broken_is_rebuilt(explore: Any) -> None:
    for end, is_rebuilt in (("aborted", False), ("aborted, not put back", True)):
        explore(ends=[end])
        record, words = new(Request(LAB, 5), 800), list[str]()
        with pytest.raises(Aborted):
            conducting.conduct(record, words.append)
        assert open_record(record.path).tries == []
        assert any("rebuilding" in each for each in words) == is_rebuilt


def test_an_aborted_run_that_left_your_own_cluster_broken_says_so(
    explore: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = inventory.declared(LAB).model_copy(update={"lab": None, "nodes": ("n1",)})
    monkeypatch.setattr(inventory, "declared", lambda _: own)
    _, run = explore(ends=["aborted, not put back"])
    with pytest.raises(UndoFailed, match="n1 is still frozen"):
        run(new(Request(LAB, 5), 800))


def test_a_record_that_cannot_be_written_does_not_hide_that_something_is_broken(
    explore: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = inventory.declared(LAB).model_copy(update={"lab": None, "nodes": ("n1",)})
    monkeypatch.setattr(inventory, "declared", lambda _: own)
    _, run = explore(ends=["not put back"])
    record = new(Request(LAB, 5), 800)

    def full_disk(made: Record) -> None:
        if made.tries:
            raise RunDirectoryError("cannot be written")

    monkeypatch.setattr(Record, "save", full_disk)
    with pytest.raises(UndoFailed, match="n1 is still frozen"):
        run(record)


def test_without_jinja2_only_the_page_is_missing(
    explore: Any, brownout: Brownout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    explore()
    html._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    answer = brownout("explore", LAB, "--seed", "5", "--for", "3200s", "-o", tmp_path / "kept")
    assert answer.code == 1, answer.err
    where = last(LAB)
    assert where is not None
    assert mentions(answer.out, headline(open_record(where)))
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert {path.name for path in where.glob("explore.*")} == {"explore.json", "explore.md"}


def test_the_page_shows_the_first_sighting_beside_the_shortest(explore: Any) -> None:
    _, run = explore()
    record = new(Request(LAB, 5), 3200)
    run(record)
    page = write(record).read_text(encoding="utf-8")
    text = (record.path / "explore.md").read_text(encoding="utf-8")
    shortest = Schedule.of(record.findings[0].shrunk)
    for each in (page, text):
        assert mentions(each, "5 of 5", shortest.steps[0].words, record.findings[0].experiment)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "explore.json").write_text('{"schema_version": 1}', encoding="utf-8")
    with pytest.raises(Exception, match="not the record of an exploration"):
        open_record(tmp_path)


def test_a_plan_prints_what_would_be_run_and_touches_nothing(
    explore: Any, brownout: Brownout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    process, run = explore(lambda _: False)
    record = new(Request(LAB, 5, share=1, shares=3), 120)
    run(record)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("brownout.inventory.inventory.load", inventory.declared)
    monkeypatch.setattr(conducting, "space_of", lambda *_: replace(SPACE, left_out={"wipe": "why"}))
    process.experiments.clear()
    options = ("explore", LAB, "--seed", "5", "--share", "2/3", "--plan", "3")
    planned = json.loads(brownout(*options, "--json").out)
    assert [(each["number"], tuple(each["schedule"])) for each in planned["schedules"]] == [
        (each.number, each.schedule) for each in record.tries
    ]
    assert planned["left_out"] == {"wipe": "why"}
    printed = brownout(*options).out
    shown = [Schedule.of(each.schedule).words for each in record.tries]
    assert mentions(printed, "seed 5", *shown, "wipe is not drawn: why")
    assert process.experiments == []
    assert sorted(tmp_path.rglob("*")) == before


def test_the_plan_of_a_lab_that_is_down_says_how_to_bring_it_up(brownout: Brownout) -> None:
    answer = brownout("explore", LAB, "--plan", "3")
    assert answer.code == 2
    assert mentions(answer.err, "is down", f"brownout lab up {LAB}")


def test_a_record_reads_back_as_it_was_saved_each_time(explore: Any) -> None:
    _, run = explore()
    record = new(Request(LAB, 5, settings={"load": {"password": "hunter2"}}), 2000)
    run(record)
    text = (record.path / "explore.json").read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert json.loads(text) == json.loads(json.dumps(record.document()))
    again = open_record(record.path)
    assert again.tries == record.tries
    again.save()
    assert (record.path / "explore.json").read_text(encoding="utf-8") == text


def test_a_folder_for_findings_that_cannot_be_made_is_said_before_hours_are_spent(
    brownout: Brownout, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    answer = brownout("explore", "lab-redis", "--for", "1h", "--output", str(taken))
    assert answer.code == 64
    assert mentions(answer.err, "--output", str(taken))


def test_a_real_cluster_is_explored_and_put_back(brownout: Brownout) -> None:
    answer = brownout(
        "explore", "lab-redis", "--for", "1s", "--seed", "3", "--only", "kill_node,pause_node",
        "--json",
    )  # fmt: skip
    record = json.loads(answer.out)
    (attempt,) = record["tries"]
    assert answer.code in (0, 1), answer.err
    assert attempt["run"]
    assert any(attempt["moments"]), attempt
    assert record["request"]["settings"]["workload"] == "lab:checked-reads"
    assert "lab-redis" not in brownout("lab", "status").out
