"""What `brownout gameday plan` says, and what stands against a day."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.runs.gameday.conftest import Write
from tests.wording import mentions

from brownout import cli
from brownout.faults import open_runs
from brownout.runs.gameday.leases import Leases


@pytest.fixture(autouse=True)
def _no_lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))


def planned(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = cli.run(["gameday", "plan", str(path)])
    return code, capsys.readouterr().out


def test_a_plan_says_when_what_is_done_and_how_old_each_pass_is(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [{"experiment": "stepdown", "takes": "3m"}, "node-kill"]
    cool_down = {"at_least_s": 60}
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
    window = {"begins": begins.isoformat(), "ends": (begins + timedelta(minutes=2)).isoformat()}
    code, said = planned(write(experiments=steps, cool_down=cool_down, window=window), capsys)
    assert code == 64
    assert re.search(f"NO   window: .*{begins:%H:%M}", said), said
    first = f"{begins:%H:%M:%S} UTC  stepdown  about 3 min 0 s  STALE: never passed"
    assert f"{first}  does not fit into the window" in said
    second = begins + timedelta(minutes=4)
    assert f"{second:%H:%M:%S} UTC  node-kill  how long is not known" in said
    assert "hand over: another member takes over" in said
    assert said.rstrip().endswith("nothing was touched")


def test_a_plan_that_nothing_stands_against_is_fine(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert planned(write(), capsys)[0] == 0


def test_a_game_day_that_goes_on_and_a_run_stand_against_it(
    write: Write, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leases = Leases()
    lease, _ = leases.take("lab-mongodb", home / "other")
    code, said = planned(write(), capsys)
    assert (code, "NO   no other game day: process" in said) == (64, True)
    leases.release(lease)
    leases.close()
    open_runs.claim("lab-mongodb", home / "runs" / "one", "lab-mongodb", brought_up=False)
    code, said = planned(write(), capsys)
    assert (code, mentions(said, home / "runs" / "one", os.getpid())) == (64, True)


def test_a_day_outside_its_window_does_not_begin_and_leaves_nothing(
    write: Write, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begins = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    assert cli.run(["gameday", "run", str(write(window={"begins": begins}))]) == 64
    assert "does not run now: the window" in capsys.readouterr().err
    assert not (home / "runs").exists()


def test_a_day_that_a_guard_forbids_does_not_begin_and_leaves_nothing(
    write: Write, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = "database: mongodb\nenvironment: production\nlab: {engine: mongodb}\n"
    (home / "prod.yaml").write_text(inventory)
    steps = ["stepdown", "node-wipe"]
    assert cli.run(["gameday", "run", str(write(cluster="prod.yaml", experiments=steps))]) == 64
    said = capsys.readouterr().err
    assert "stepdown: environment: `prod`" in said
    assert "node-wipe: data loss" in said
    assert list((home / "runs" / "gamedays").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "no-such"), "gamedays: found 'no-such', wanted one of"),
        (("run", "no/such.yaml"), "no such gameday"),
        (("run", "lab-mongodb", "--resume"), "found no game day lab-mongodb to resume"),
        (("stop",), "no game day is in progress"),
        (("serve", "lab-mongodb"), "schedule: found none"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_bad_input_says_what_is_wrong(
    arguments: tuple[str, ...], words: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["gameday", *arguments]) == 64
    assert words in capsys.readouterr().err
