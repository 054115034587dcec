"""What is asked in the first hour works without the optional packages, and says which are lacking.

The environment is a real one: a folder with nothing but the distributions that brownout requires,
without extras or with some, and a Python that sees only that folder.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import brownout
from brownout.base.extras import how_to_install

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAMS = {"brownout": "from brownout.cli import main; main()",
            "chaos": "from chaostoolkit.__main__ import cli; cli()"}  # fmt: skip


def _closure(name: str, extras: frozenset[str], seen: dict[str, frozenset[str]]) -> None:
    """Add to `seen` every distribution that `name` with `extras` requires, and itself."""
    before = seen.get(name)
    if before is not None and extras <= before:
        return
    seen[name] = extras | (before or frozenset())
    for text in metadata.requires(name) or ():
        wanted = Requirement(text)
        asked = [{"extra": extra} for extra in (*seen[name], "")]
        if wanted.marker is None or any(wanted.marker.evaluate(each) for each in asked):
            _closure(wanted.name, frozenset(wanted.extras), seen)


def _lay_out(folder: Path, extras: frozenset[str]) -> list[Path]:
    """Link those distributions into `folder`; return what has to be on Python's path."""
    seen: dict[str, frozenset[str]] = {}
    _closure("brownout", extras, seen)
    for name in seen:
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            link = folder / top
            if top.endswith(".pth") or link.is_symlink():
                continue
            link.symlink_to(Path(str(distribution.locate_file(top))).resolve())
    source = Path(brownout.__file__).parents[1]
    return [folder] if (folder / "brownout").exists() else [folder, source]


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run `brownout` or `chaos` as installed without extras, or with some, in an empty folder."""
    extras = getattr(request, "param", "")
    (site := tmp_path / "site").mkdir()
    (home := tmp_path / "home").mkdir()
    paths = _lay_out(site, frozenset(filter(None, extras.split(","))))
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("BROWNOUT_")},
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "HOME": str(home),
        "XDG_STATE_HOME": str(home),
    }

    def call(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-c", PROGRAMS[program], *arguments]
        return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)

    return call


def test_a_copy_is_made_and_the_host_kinds_that_are_lacking_are_named(
    run: Run, tmp_path: Path
) -> None:
    made = run("brownout", "new", "node-kill", "-o", "mine")
    assert made.returncode == 0, made.stderr
    assert "mine/experiments/node-kill.json" in made.stdout
    schema = json.loads((tmp_path / "home/mine/schemas/inventory.json").read_text())
    for kind in ("docker", "kubernetes", "ssh"):
        assert f"host kind `{kind}` needs the package" in made.stderr
        assert how_to_install(kind) in made.stderr
        # An editor then lets whatever such a host has pass, and knows the other kinds.
        assert schema["$defs"][f"host_{kind}"]["properties"] == {"kind": {"const": kind}}
        assert schema["$defs"][f"host_{kind}"]["required"] == ["kind"]
    assert "pid_file" in schema["$defs"]["host_process"]["properties"]


def test_every_activity_is_discovered(run: Run, tmp_path: Path) -> None:
    told = run("chaos", "--no-version-check", "discover", "brownout", "--no-install")
    assert told.returncode == 0, told.stdout + told.stderr
    found = json.loads((tmp_path / "home" / "discovery.json").read_text())
    assert found["activities"] == brownout.discover()["activities"]


def test_every_activity_is_listed(run: Run) -> None:
    told = run("brownout", "list", "all")
    assert (told.returncode, told.stderr) == (0, "")
    assert {"node.kill_node", "mongodb.members"} <= set(told.stdout.split())


def test_chaos_toolkit_takes_a_shipped_experiment_by_its_path(run: Run) -> None:
    found = run("brownout", "list", "--path", "node-kill")
    assert (found.returncode, found.stderr) == (0, "")
    told = run("chaos", "--no-version-check", "validate", found.stdout.strip())
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_history_is_read(run: Run, tmp_path: Path) -> None:
    told = run("brownout", "history")
    where = f"sqlite:///{tmp_path / 'home/brownout/history.sqlite'}"
    assert (told.returncode, told.stdout, told.stderr) == (0, "", f"0 runs in {where}\n")


@pytest.mark.parametrize("run", ["", "lab,mongodb,report"], indirect=True)
def test_a_plan_and_the_doctor_say_what_the_cluster_needs(
    run: Run, request: pytest.FixtureRequest
) -> None:
    plan = run("brownout", "plan", "node-kill")
    doctor = run("brownout", "doctor", "--cluster", "lab-mongodb")
    if "mongodb" in request.node.callspec.params["run"]:
        assert (plan.returncode, doctor.returncode) == (0, 0), plan.stdout + plan.stderr
        return
    assert (plan.returncode, doctor.returncode) == (64, 1), plan.stdout + plan.stderr
    assert "NO   packages of mongodb: database `mongodb` needs the package `pymongo`" in plan.stdout
    assert "NOT READY: packages of mongodb" in doctor.stdout
    for told in (plan.stdout, doctor.stdout):
        assert how_to_install("mongodb") in " ".join(told.split())
