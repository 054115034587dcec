"""An exploration in shares: each in the store after every run, continued there, gathered."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout
from tests.runs.explore.world import LAB
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.runs.explore.record import Request, new, open_record
from brownout.runs.explore.shares import INDEX, begin, share_of

SEED = 5


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder behind the store that the environment names."""
    monkeypatch.setenv("BROWNOUT_STORE", f"file://{tmp_path / 'store'}")
    return tmp_path / "store" / "explorations"


@pytest.fixture
def on_a_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path) -> Any:
    """Have what follows run where nothing but the store is shared with others."""

    def go(name: str) -> Path:
        monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path / name / "runs"))
        return tmp_path / name / "runs" / "explorations"

    return go


def ask(share: int, shares: int = 2, **fields: Any) -> Request:
    return Request(LAB, SEED, share=share - 1, shares=shares, **fields)


def test_a_share_is_that_of_the_pods_index(store: Path) -> None:
    assert share_of("job/4", {INDEX: "2"}) == (2, 4)
    assert share_of("2/4", {INDEX: "3"}) == (1, 4)


@pytest.mark.parametrize(
    ("text", "index"), [("job/4", ""), ("job/4", "4"), ("job/x", "1"), ("5/4", ""), ("2", "")]
)
def test_a_share_that_there_is_not_is_refused(store: Path, text: str, index: str) -> None:
    with pytest.raises(ConfigurationError, match="--share"):
        share_of(text, {INDEX: index})


def test_a_pod_without_a_store_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_STORE", raising=False)
    with pytest.raises(ConfigurationError, match="BROWNOUT_STORE"):
        share_of("job/4", {INDEX: "0"})


def test_a_share_needs_the_seed_that_the_others_have(brownout: Brownout) -> None:
    answer = brownout("explore", LAB, "--share", "1/2")
    assert answer.code == 64
    assert mentions(answer.err, "--seed", "all 2 shares")


def test_a_killed_share_continues_elsewhere_and_nothing_is_counted_twice(
    explore: Any, store: Path, on_a_machine: Any, brownout: Brownout
) -> None:
    on_a_machine("whole")
    _, run = explore()
    whole = new(Request(LAB, SEED), 2400)
    run(whole)
    for share in (1, 2):
        on_a_machine(f"machine-{share}")
        killed = share == 2
        _, run = explore(ends=[*[""] * 4, "killed"] if killed else [])
        record, is_begun = begin("night", ask(share), 2400)
        assert not is_begun
        if killed:
            with pytest.raises(KeyboardInterrupt):
                run(record)
            on_a_machine("another-machine")
            _, run = explore()
            record, is_begun = begin("night", ask(share), 2400)
            assert is_begun
            assert len(record.tries) == 4
        run(record)
    here = on_a_machine("desk")
    answer = brownout("gather", "night", "--json")
    gathered = json.loads(answer.out)
    assert answer.code == 1, answer.err
    drawn = {each.number: each.schedule for each in whole.searched}
    searched = [t for t in gathered["tries"] if t["purpose"] == "search"]
    numbers = [each["number"] for each in searched]
    assert len(numbers) == len(set(numbers)) > 20
    for each in searched:
        assert tuple(each["schedule"]) == drawn.get(each["number"], tuple(each["schedule"]))
    keys = [
        (t["number"], t["purpose"], str(t["schedule"]), t["attempt"]) for t in gathered["tries"]
    ]
    assert len(keys) == len(set(keys))
    shortest = {str(f["shrunk"]) for f in gathered["findings"]}
    assert len(gathered["findings"]) == len(shortest) == 1
    name = gathered["findings"][0]["experiment"]
    assert (here / "night" / "gathered" / name).is_file()
    assert (store / "night" / "gathered" / name).is_file()
    page = (store / "night" / "gathered" / "explore.md").read_text(encoding="utf-8")
    assert "Gathered from 2 of 2 shares" in page


def test_a_share_that_is_over_says_so_again_and_runs_nothing(
    explore: Any,
    store: Path,
    on_a_machine: Any,
    brownout: Brownout,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(INDEX, "1")
    on_a_machine("one")
    process, _ = explore(lambda _: False)
    call = ("explore", LAB, "--seed", "5", "--share", "job/2", "--for", "400s", "--name", "night")
    first = brownout(*call)
    ran = len(process.experiments)
    assert ran == 10
    on_a_machine("two")
    again = brownout(*call)
    assert (first.code, again.code) == (0, 0), again.err
    assert again.out == first.out
    assert len(process.experiments) == ran


def test_what_is_not_there_yet_is_said_and_is_no_pass(
    explore: Any, store: Path, on_a_machine: Any, brownout: Brownout
) -> None:
    on_a_machine("one")
    explore(lambda _: False)
    assert brownout("explore", LAB, "--seed", "5", "--share", "1/3", "--for", "80s").code == 0
    _, run = explore(lambda _: False, ends=["", "killed"])
    with pytest.raises(KeyboardInterrupt):
        run(begin("seed-5", ask(3, 3), 80)[0])
    answer = brownout("gather", "seed-5")
    assert answer.code == 2
    assert mentions(
        answer.err, "2 of 3 shares", "Share 2 of 3: not there", "Share 3 of 3: not over"
    )


def test_a_name_that_has_something_else_is_refused(
    explore: Any, store: Path, on_a_machine: Any, brownout: Brownout
) -> None:
    on_a_machine("one")
    _, run = explore(lambda _: False)
    run(begin("night", ask(1), 80)[0])
    on_a_machine("two")
    answer = brownout("explore", LAB, "--seed", "6", "--share", "1/2", "--name", "night")
    assert answer.code == 64
    assert mentions(answer.err, "`seed`", "found 5", "wanted 6", "--name")


def test_another_server_under_the_same_name_is_refused(
    explore: Any, store: Path, on_a_machine: Any
) -> None:
    on_a_machine("one")
    _, run = explore(lambda _: False)
    record, _ = begin("night", ask(1), 80)
    run(record)
    record.server, record.budget_s = "mongod 5.0.1", 160
    with pytest.raises(ConfigurationError, match=r"mongod 5\.0\.1.*mongod 6\.0\.5"):
        run(record)


@pytest.mark.parametrize("name", ["../night", "a/b", "", ".hidden"])
def test_a_name_that_leads_elsewhere_is_refused(brownout: Brownout, name: str) -> None:
    answer = brownout("gather", name)
    assert answer.code == 64
    assert "name" in answer.err


def test_a_store_that_is_away_is_said_and_the_exploration_continues(
    explore: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BROWNOUT_STORE", f"file://{tmp_path / 'file'}/below")
    monkeypatch.setattr("brownout.runs.store.objects.PATIENCE_S", 0)
    _, run = explore(lambda _: False)
    record = new(Request(LAB, SEED), 80)
    words = run(record)
    assert len(record.tries) == 2
    assert sum("NOT in the store" in each for each in words) == 2


def test_explorations_are_not_listed_as_runs(
    explore: Any, store: Path, on_a_machine: Any, brownout: Brownout
) -> None:
    on_a_machine("one")
    _, run = explore(lambda _: False)
    run(begin("night", ask(1), 80)[0])
    assert (store / "night" / "1-of-2" / "explore.json").is_file()
    assert brownout("store", "list").out == ""
    assert open_record(on_a_machine("one") / "night" / "1-of-2").request == ask(1)
