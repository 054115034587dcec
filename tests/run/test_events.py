"""Events survive: threads, a crash in the middle of a line, opening the file again."""

import json
import threading
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brownout.base.errors import RunDirectoryError
from brownout.run.events import EventLog, read_events


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "events.ndjson"


def test_the_stages_of_an_event_are_read_as_one(file: Path) -> None:
    times = iter([20.352, 20.5, 20.9, 24.0])
    log = EventLog(file, clock=lambda: next(times))
    kill = log.intent("break", "kill_node", node="n1", undo={"action": "start_node"},
                      arguments={"mode": "kill"})  # fmt: skip
    log.effective(kill, 20.4, 0.002, {"pid": 17})
    log.ended(kill, evidence={"gone": True})
    log.point("milestone", "rejoined", last_no=23.8, first_yes=23.9, evidence={"members": 3})
    killed, rejoined = read_events(file)
    assert (killed.id, killed.type, killed.name, killed.node) == (1, "break", "kill_node", "n1")
    assert (killed.requested, killed.effective, killed.ended) == (20.352, 20.4, 20.9)
    assert (killed.uncertainty, killed.undo) == (0.002, {"action": "start_node"})
    assert killed.evidence == {"pid": 17, "gone": True}
    assert killed.arguments == {"mode": "kill"}
    assert killed.wall.endswith("Z")
    assert rejoined.fields == {"last_no": 23.8, "first_yes": 23.9}
    assert (rejoined.requested, rejoined.evidence) == (24.0, {"members": 3})


def test_the_time_of_day_is_when_it_happened_and_not_when_it_was_written(file: Path) -> None:
    now = 100.0
    log = EventLog(file, clock=lambda: now)
    kill = log.intent("break", "kill_node", node="n1")
    log.effective(kill, 70.0)
    log.point("milestone", "rejoined", t=40.0)
    wall = [datetime.fromisoformat(json.loads(line)["wall"]).timestamp()
            for line in file.read_text().splitlines()]  # fmt: skip
    assert wall[0] - wall[1] == pytest.approx(30.0, abs=1.0)
    assert wall[0] - wall[2] == pytest.approx(60.0, abs=1.0)
    killed, _ = read_events(file)
    assert datetime.fromisoformat(killed.wall).timestamp() == pytest.approx(wall[0] - 30, abs=0.01)


def test_a_late_time_of_day_of_an_older_run_is_set_right(file: Path) -> None:
    begun = {"id": 1, "stage": "intent", "type": "break", "name": "kill_node", "t": 20.0,
             "wall": "2026-11-22T10:15:20.000Z"}  # fmt: skip
    effect = begun | {"stage": "effective", "t": 20.1, "wall": "2026-11-22T10:15:20.300Z"}
    file.write_text(json.dumps(begun) + "\n" + json.dumps(effect) + "\n")
    assert read_events(file)[0].wall == "2026-11-22T10:15:20.100Z"
    file.write_text(json.dumps(begun | {"wall": "soon"}) + "\n" + json.dumps(effect) + "\n")
    assert read_events(file)[0].wall == "soon"


def test_a_failure_is_read_with_its_reason(file: Path) -> None:
    log = EventLog(file)
    log.failed(log.intent("break", "kill_node", node="n1"), "not permitted")
    (event,) = read_events(file)
    assert (event.requested, event.effective, event.error) == (None, None, "not permitted")


def test_what_was_refused_is_read_as_refused_and_a_failure_is_not(file: Path) -> None:
    log = EventLog(file)
    log.refused(log.intent("break", "kill_node", node="n1"), "no privilege")
    log.failed(log.intent("break", "kill_node", node="n1"), "silence")
    refused, failed = read_events(file)
    assert (refused.error, refused.refused) == ("no privilege", True)
    assert (failed.error, failed.refused) == ("silence", False)


def test_every_line_is_on_the_disk_when_the_call_returns(file: Path) -> None:
    log = EventLog(file)
    for number in range(5):
        log.point("note", f"n{number}")
        assert len(file.read_text().splitlines()) == number + 1


@pytest.mark.parametrize("torn", ['{"id": 2, "stage": "po', "{", "\x00\x00", "[1, 2]\n", "7\n"])
def test_a_torn_line_is_passed_over_and_the_next_stands_by_itself(file: Path, torn: str) -> None:
    EventLog(file).point("phase", "load_started")
    with file.open("a") as raw:
        raw.write(torn)
    again = EventLog(file)
    id = again.point("phase", "load_stopped")
    assert [event.name for event in read_events(file)] == ["load_started", "load_stopped"]
    assert id == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 2000))
def test_a_file_cut_anywhere_gives_the_events_before_the_cut(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "whole.ndjson"
    if not file.exists():
        log = EventLog(file, clock=lambda: 1.0)
        for number in range(8):
            log.effective(log.intent("break", f"b{number}"), 1.5)
    text = file.read_bytes()
    torn = tmp_path / "torn.ndjson"
    torn.write_bytes(text[:cut])
    names = [event.name for event in read_events(torn)]
    assert names == [event.name for event in read_events(file)][: len(names)]
    lines = text[:cut].count(b"\n")
    assert len(names) in (-(-lines // 2), -(-(lines + 1) // 2))


def test_ids_are_different_whoever_writes(file: Path) -> None:
    log = EventLog(file)

    def write() -> None:
        for _ in range(25):
            log.ended(log.intent("mend", "start_node"))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_events(file)
    assert sorted(event.id for event in events) == list(range(1, 101))


def test_no_secret_reaches_the_file(file: Path) -> None:
    log = EventLog(file)
    uri = "mongodb://admin:hunter2@db1:27017/?ssl=true"
    id = log.intent("break", "x", arguments={"uri": uri, "password": "hunter2"})
    log.failed(id, f"cannot connect to {uri}")
    log.point("note", "failure", reason=f"gave up: {uri}", detail={"token": ["hunter2"]})
    assert "hunter2" not in file.read_text()
    assert "db1:27017" in file.read_text()


def test_a_line_holds_what_the_contract_says(file: Path) -> None:
    EventLog(file, clock=lambda: 3.25).point("check", "cluster_whole", ok=True, detail={"n": 3})
    line = json.loads(file.read_text())
    assert line.pop("wall")
    assert line == {"id": 1, "stage": "point", "type": "check", "name": "cluster_whole",
                    "node": None, "t": 3.25, "ok": True, "detail": {"n": 3}}  # fmt: skip


def test_a_break_that_cannot_be_written_down_is_an_error(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "no" / "events.ndjson")
    with pytest.raises(RunDirectoryError, match=r"cannot be written.*nothing is broken on purpose"):
        log.intent("break", "kill_node", node="n1")
    with pytest.raises(RunDirectoryError, match="cannot be read"):
        read_events(tmp_path / "no" / "events.ndjson")


def test_what_else_cannot_be_written_is_written_as_soon_as_it_can_be(tmp_path: Path) -> None:
    file = tmp_path / "later" / "events.ndjson"
    log = EventLog(file)
    mend = log.intent("mend", "start_node", node="n1")
    log.effective(mend, 1.0, 0.1)
    file.parent.mkdir()
    log.ended(mend, 2.0)
    (found,) = read_events(file)
    assert (found.name, found.effective, found.ended) == ("start_node", 1.0, 2.0)


def test_of_a_damaged_line_the_rest_still_counts(file: Path) -> None:
    line = {"id": 1, "stage": "intent", "type": "break", "name": "kill_node", "node": "n1",
            "t": "soon", "undo": {"action": "start_node"}, "arguments": [1]}  # fmt: skip
    odd = {**line, "id": 2, "node": ["n2"], "t": 1e300, "undo": {}}
    file.write_text("\n".join([json.dumps(line), json.dumps(odd), "[" * 5000, '{"id": -1}']) + "\n")
    first, second = read_events(file)
    assert (first.node, first.requested, first.undo) == ("n1", None, {"action": "start_node"})
    assert (second.node, second.requested, second.undo) == (None, None, None)
