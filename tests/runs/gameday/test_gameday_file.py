"""A game day's file: what is wrong in it is said at once, with its place, and no secret of it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.runs.gameday.conftest import Write
from tests.wording import mentions

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import parse_yaml
from brownout.cli.schemas import schema
from brownout.runs.gameday import gameday_file
from brownout.runs.gameday.plan import make


def problems(path: Path) -> list[str]:
    """All that reading the file finds wrong, without the file's name before each."""
    with pytest.raises(ConfigurationError) as found:
        gameday_file.read(str(path))
    return [problem.removeprefix(f"{path}: ") for problem in found.value.problems]


def test_every_mistake_of_the_shape_is_named_at_once(write: Write) -> None:
    path = write(
        cool_dwon={},
        order="backwards",
        freshness="30",
        window={"weekly": ["Tue 12:00-10:00"], "begins": "2026-12-01"},
        freeze=[{"first": "2026-13-01", "last": "2027-01-06", "why": "x"}],
        abort_if=[{"availability_under": 1}],
        schedule={"cron": "0 10 * * tue", "zone": "Mars/Base"},
        experiments=["stepdown", {"experiment": "stepdown"}],
    )
    found = "\n".join(problems(path))
    for words in (
        "cool_dwon: unknown setting, wanted one of",
        "did you mean `cool_down`?",
        "order: found 'backwards', wanted as written or random",
        "freshness: found '30', wanted a time with its unit",
        "window.weekly[0]: found 'Tue 12:00-10:00', wanted an end after the begin",
        "window.begins: found '2026-12-01', wanted a moment with its offset",
        "freeze[0].first: found '2026-13-01', wanted a day as 2026-12-18",
        "abort_if: abort_if[0]: not a condition",
        "schedule.zone: found 'Mars/Base', wanted a time zone",
        "experiments: stepdown: there twice",
    ):
        assert words in found


def test_every_mistake_of_what_it_names_is_named_at_once(write: Write) -> None:
    path = write(
        cluster="no-such",
        schedule={"cron": "0 10 * * 2"},
        safeguards=[{"type": "probe", "name": "x", "provider": {"type": "process"}}],
    )
    found = "\n".join(problems(path))
    assert "cluster: unknown cluster `no-such`; known: " in found
    assert "schedule.cron: found '0 10 * * 2', wanted weekdays by name" in found
    assert "safeguards[0]: " in found


def test_a_schedule_that_never_comes_is_bad_input(write: Write) -> None:
    (problem,) = problems(write(schedule={"cron": "0 10 30 2 *"}))
    assert "which never comes" in problem


def test_unknown_experiments_and_variables_are_named_with_their_step(write: Write) -> None:
    path = write(
        experiments=[
            "no-such",
            {"experiment": "stepdown", "variables": {"sead": 1}},
            {"experiment": "node-kill", "variables": {"cluster": "other"}},
        ]
    )
    first, second, third = problems(path)
    assert first.startswith("experiments[0] (no-such): experiments: found 'no-such', wanted one of")
    assert second.startswith("experiments[1] (stepdown): --var sead: this experiment has no such")
    assert third.startswith("experiments[2] (node-kill): variables.cluster: found one of its own")


def test_a_window_in_the_past_is_bad_input(write: Write) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    (problem,) = problems(write(window={"ends": yesterday}))
    assert "window.ends" in problem
    assert "which is past" in problem


def test_a_calendar_that_excludes_everything_is_bad_input(write: Write) -> None:
    freeze = [{"first": "2020-01-01", "last": "2199-12-31", "why": "for ever"}]
    (problem,) = problems(write(freeze=freeze))
    assert "they leave no moment in the next 366 days" in problem


def test_a_secret_stands_in_no_message(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"name": "ops", "url": "slack://tokentoken/x"}
    (problem,) = problems(write(notify=[plain]))
    assert mentions(problem, "notify[0].url", "{env: NAME}")
    assert "tokentoken" not in problem
    monkeypatch.setenv("OPS_HOOK", "nothing-that-apprise-knows://tokentoken")
    (problem,) = problems(write(notify=[{"name": "ops", "url": {"env": "OPS_HOOK"}}]))
    assert "what Apprise does not know (not shown)" in problem


@pytest.mark.parametrize(
    "url",
    ["jsons://hooks.example.com/x", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops",
     "mailtos://user:password@example.com?to=ops@example.com"],
)  # fmt: skip
def test_webhook_slack_and_mail_are_known(
    write: Write, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPS_HOOK", url)
    gameday = gameday_file.read(str(write(notify=[{"name": "ops", "url": {"env": "OPS_HOOK"}}])))
    assert "password" not in repr(gameday)


@pytest.mark.parametrize("name", catalog.names("gamedays"))
def test_a_shipped_game_day_is_right_for_us_and_for_an_editor(name: str, home: Path) -> None:
    assert gameday_file.read(name).name == name
    data = parse_yaml(catalog.read("gamedays", name), name)
    Draft202012Validator(schema("gameday")).validate(data)
    assert list(Draft202012Validator(schema("gameday")).iter_errors({**data, "oder": "random"}))


def test_the_example_of_the_page_is_right_but_for_its_cluster(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.docs.documents import ROOT, blocks

    (block,) = [b for b in blocks(ROOT / "docs" / "gamedays.md") if b.language == "yaml"]
    monkeypatch.setenv("SHOP_CHANNEL", "json://127.0.0.1/x")
    Draft202012Validator(schema("gameday")).validate(json.loads(json.dumps(
        parse_yaml(block.text, "page"), default=str)))  # fmt: skip
    (home / "shop.yaml").write_text(block.text)
    found = problems(home / "shop.yaml")
    assert [problem.split(":")[0] for problem in found] == ["cluster"]


def test_who_is_served_is_watched_by_the_run_in_addition_to_its_own_conditions(
    write: Write,
) -> None:
    own = [{"file": "/run/own"}]
    gameday = gameday_file.read(
        str(
            write(
                experiments=[{"experiment": "stepdown", "variables": {"abort_if": own}}],
                abort_if=[{"availability_below": 0.5, "for_s": 5}, {"file": "/run/stop"}],
            )
        )
    )
    variables = make(gameday, gameday.experiments[0]).variables
    assert variables["cluster"] == "lab-mongodb"
    assert variables["abort_if"] == [*own, {"availability_below": 0.5, "for_s": 5.0}]
