"""What people see of the commands, held as it is: a change of it shows in a change of a file.

`pytest tests/golden --snapshot-update` accepts what is there now; read the difference in git.
"""

import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from chaoslib.discovery import discover
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Brownout, brownout, home
from typer.testing import CliRunner

from brownout import cli

__all__ = ["brownout", "home"]

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted(path.stem for path in (ROOT / "experiments").glob("*.json"))
LABS = sorted(path.stem for path in (ROOT / "infra" / "clusters").glob("lab-*.yaml"))
#: The plain lab of each database shows every experiment, the others what they differ in.
PLAIN = [lab for lab in LABS if lab.count("-") == 1]
ON_EVERY_LAB = ("node-kill", "partition", "disk-slow")


def _commands(command: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the path of every command and group, the command line itself first."""
    children = sorted(getattr(command, "commands", {}).items())
    return [
        path,
        *(deeper for name, child in children for deeper in _commands(child, (*path, name))),
    ]


def test_the_help_of_every_command_is_as_it_was(
    snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    for path in _commands(cli.command(), ()):
        shown = CliRunner().invoke(cli.app, [*path, "--help"], prog_name="brownout").output
        assert shown == snapshot(name=" ".join(["brownout", *path]))


def test_chaos_discover_shows_the_activities_that_it_showed(snapshot: SnapshotAssertion) -> None:
    found = discover("brownout", discover_system=False, download_and_install=False)
    shown = [
        {key: activity[key] for key in ("type", "mod", "name", "doc", "arguments")}
        for activity in sorted(found["activities"], key=lambda a: (a["mod"], a["name"]))
    ]
    assert json.dumps(shown, indent=1) == snapshot


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_plan_of_an_experiment_on_each_lab_is_as_it_was(
    experiment: str, brownout: Brownout, home: Path, snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "labs"))
    monkeypatch.setenv("BROWNOUT_ASD", "stand-in")
    redis = home / "redis-server"  # a plan only asks its version
    redis.write_text("#!/bin/sh\necho 'Redis server v=7.0.15 sha=0'\n")
    redis.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_REDIS", str(redis))
    java, jars = home / "java" / "bin" / "java", home / "cassandra"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.15\"' >&2\n")
    java.chmod(0o755)
    jars.mkdir()
    (jars / "cassandra-all-5.0.5.jar").touch()
    maven = home / "bin" / "mvn"  # a plan only looks whether it is there
    maven.parent.mkdir()
    maven.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(home / "java"))
    monkeypatch.setenv("BROWNOUT_CASSANDRA", str(jars))
    for lab in LABS if experiment in ON_EVERY_LAB else PLAIN:
        said = brownout("plan", experiment, "--set", f"cluster={lab}", "--set", "seed=4711")
        shown = f"exit code {said.code}\n{said.out}{said.err}"
        for path in (home, sysconfig.get_path("purelib"), sys.prefix, ROOT):
            shown = shown.replace(str(path), "…")
        shown = shown.replace(Path(sys.executable).name, "python")
        assert shown == snapshot(name=f"{experiment} on {lab}")
