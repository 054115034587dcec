"""`brownout watch`: a run that another process makes, in a terminal and without one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import forked_run
from tests.show.live.terminal import HIDE_CURSOR, SHOW_CURSOR, run_in_terminal

ROOT = Path(__file__).parents[3]
SPEED = "16"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Where runs and claims of this test lie."""
    return {"BROWNOUT_RUNS": str(tmp_path / "runs"), "BROWNOUT_STATE": str(tmp_path / "state")}


@dataclass(frozen=True)
class GoingOn:
    """A run, and the process that plays it: it stands after the fault until it gets SIGUSR1."""

    path: Path
    player: subprocess.Popen[bytes]


@pytest.fixture
def going_on(
    request: pytest.FixtureRequest, finished: Path, tmp_path: Path, env: dict[str, str]
) -> Iterator[GoingOn]:
    """A run that goes on in another process, which plays the finished one back."""
    target = tmp_path / "runs" / finished.name
    extra = getattr(request, "param", ())
    command = [sys.executable, "-m", "tests.show.live.player", str(finished), str(target), SPEED]
    player = subprocess.Popen(
        [*command, *extra], cwd=ROOT, env={**os.environ, **env}, stdout=subprocess.PIPE
    )
    assert player.stdout is not None
    assert player.stdout.readline() == b"playing\n"
    yield GoingOn(target, player)
    player.send_signal(signal.SIGUSR1)
    player.wait(timeout=60)
    player.stdout.close()


def _watch(run: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return forked_run.brownout("watch", run, cwd=ROOT, env=env, timeout=120)


def test_a_terminal_shows_the_panel_and_then_the_result(
    going_on: GoingOn, env: dict[str, str]
) -> None:
    ended = run_in_terminal(
        "brownout", "watch", "latest", env=env, go_on_at=("redundant",), goes_on=going_on.player
    )
    assert ended.code == 0
    assert "node-kill" in ended.written
    assert "throughput" in ended.written
    assert "redundant" in ended.written
    assert ended.written.rindex(SHOW_CURSOR) > ended.written.rindex(HIDE_CURSOR)
    left = "\n".join(ended.screen)
    assert "PASS" in left
    assert "╭" not in left


def test_without_a_terminal_there_are_lines_and_then_the_result(
    going_on: GoingOn, env: dict[str, str]
) -> None:
    command = ["brownout", "watch", going_on.path.name]
    with forked_run.start(command, cwd=ROOT, env=env, stderr=subprocess.PIPE) as watching:
        assert watching.stderr is not None
        assert any("ok/s" in line for line in watching.stderr)
        going_on.player.send_signal(signal.SIGUSR1)
        said, _ = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert said.splitlines()[-1].startswith("PASS")


@pytest.mark.parametrize("going_on", [("--die",)], indirect=True)
def test_a_run_that_dies_is_said_to_have_died(going_on: GoingOn, env: dict[str, str]) -> None:
    done = _watch(str(going_on.path), env)
    assert done.returncode == 2
    assert "brownout heal" in done.stderr


def test_a_run_that_is_over_is_shown_at_once(
    finished: Path, env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / finished.name).symlink_to(finished)
    done = _watch(finished.name, env)
    assert done.returncode == 0
    assert "PASS" in done.stdout
