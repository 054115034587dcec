"""`brownout doctor`: what this machine can do, and the mend for what it cannot."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout

from brownout.cli import extras, machine
from brownout.faults import open_runs
from brownout.inventory.database import databases

ROOT = Path(__file__).parents[2]


def test_this_machine_can_make_every_run(brownout: Brownout, home: Path) -> None:
    said = brownout("doctor")
    assert said.code == 0, said.out
    found = json.loads(brownout("doctor", "--json").out)
    assert len(found) == len(machine.CHECKS) + len(databases()) + len(extras.EXTRAS)
    assert all(row["name"] in said.out for row in found)


def test_every_finding_says_who_needs_it_and_how_to_mend_it() -> None:
    for found in machine.examine():
        assert found.found
        assert found.purpose
        assert found.remedy


def test_every_extra_of_the_package_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    looked_for = {extra: set(packages) for extra, packages, _ in extras.EXTRAS}
    assert looked_for.keys() == optional.keys() - {"dev", "lab"}
    for extra, packages in looked_for.items():
        assert all(any(wanted.startswith(name) for wanted in optional[extra]) for name in packages)


def test_a_load_generator_that_is_not_there_makes_it_not_ready(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LOADGEN", "/nowhere/loadgen")
    said = brownout("doctor")
    assert said.code == 1
    assert "/nowhere/loadgen" in said.out
    assert "make setup" in said.out
    assert said.out.rstrip().endswith("NOT READY: load generator")


def test_a_mongod_that_does_not_start_is_said_and_stops_no_other_run(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_MONGOD", "/nowhere/mongod")
    said = brownout("doctor")
    assert said.code == 0
    (line,) = [x for x in said.out.splitlines() if "server: mongodb " in x and "/nowhere" in x]
    assert line.startswith("-")


def test_what_a_cluster_needs_is_looked_for_and_its_lack_is_an_error(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    said = brownout("doctor", "--cluster", "lab-aerospike")
    assert said.code == 0, said.out
    assert "ok  packages of aerospike" in said.out
    monkeypatch.setenv("BROWNOUT_ASD", "/nowhere/asd")
    said = brownout("doctor", "--cluster", "lab-aerospike")
    assert said.code == 1
    assert "every run on lab-aerospike: correct BROWNOUT_ASD" in said.out
    assert said.out.rstrip().endswith("NOT READY: server")
    assert brownout("doctor", "--cluster", "lab-mongodb").code == 0
    assert brownout("doctor", "--cluster", "no-such").code == 64


def test_a_run_that_died_is_found(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_runs.claim("lab-mongodb", home, "lab-mongodb", brought_up=False)
    monkeypatch.setattr(open_runs.Claim, "is_alive", lambda self: False)
    said = brownout("doctor")
    assert said.code == 1
    assert "brownout heal" in said.out
