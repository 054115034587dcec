"""A game day on the disk."""

import json
from pathlib import Path

import pytest

from brownout import cli
from brownout.runs.gameday.days import Day, all_days, new_place
from brownout.runs.gameday.record import Record, StepRecord


def made(name: str = "day") -> Day:
    steps = [StepRecord("stepdown", "stepdown", {"seed": 7})]
    began = "2026-11-21T10:00:00.000Z"
    return Day(new_place(name), Record(name, "", "shop", "shop", "day.yaml", 0, steps, began))


def test_what_is_written_is_read_again(home: Path) -> None:
    day = made()
    day.note("stepdown begins")
    (found,) = all_days("day")
    assert found.record == day.record
    assert found.record.notes[0].endswith("Z stepdown begins")
    assert "IN PROGRESS: game day day" in day.summary.read_text()


def test_days_of_one_second_have_places_of_their_own(home: Path) -> None:
    assert len({new_place("day") for _ in range(3)}) == 3


def test_a_damaged_day_is_left_out(home: Path) -> None:
    made().save()
    broken = made()
    for text in ("{", "[]", "{}", '{"steps": [{"nonsense": 1}]}'):
        (broken.path / "gameday.json").write_text(text)
        assert len(all_days()) == 1


def test_the_history_says_of_each_day_how_it_ended_and_which_died(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = made("first"), made("second")
    first.record.verdict = "pass"
    first.save()
    second.save()
    assert cli.run(["gameday", "history", "--json"]) == 0
    days = json.loads(capsys.readouterr().out)["days"]
    assert [(day["name"], day["verdict"]) for day in days] == [
        ("first", "pass"),
        ("second", "died"),
    ]


def test_the_history_is_shown_though_the_leases_cannot_be_read(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = made("first"), made("second")
    first.record.verdict = "pass"
    first.save()
    second.save()
    monkeypatch.setenv("BROWNOUT_GAMEDAYS", "postgresql://ops:secret@127.0.0.1:1/leases")
    assert cli.run(["gameday", "history", "--json"]) == 0
    answer = capsys.readouterr()
    days = json.loads(answer.out)["days"]
    assert [day["verdict"] for day in days] == ["pass", "in progress or died"]
    assert "which game days are in progress is unknown: " in answer.err
    assert "secret" not in answer.err
    assert cli.run(["gameday", "history"]) == 0
    assert "in progress or died" in capsys.readouterr().out
