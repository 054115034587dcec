"""A database of somebody else's: a package with one folder, found by its entry point alone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests import forked_run

PACKAGE = Path(__file__).parent / "stone"


@pytest.fixture(scope="module")
def installed(install: Callable[[Path], Path]) -> Path:
    """Where the package is installed."""
    return install(PACKAGE)


@pytest.fixture
def env(installed: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """What makes the package known to a process, which keeps its lab and its runs to itself."""
    own = {
        "PYTHONPATH": str(installed),
        "BROWNOUT_CLUSTERS": str(PACKAGE / "clusters"),
        "BROWNOUT_LAB_DIR": str(tmp_path / "lab"),
        "BROWNOUT_STATE": str(tmp_path / "state"),
        "BROWNOUT_RUNS": str(tmp_path / "runs"),
    }
    yield own
    brownout(own, "lab", "down", "lab-stone")
    assert not (tmp_path / "lab" / "lab-stone").exists()


def brownout(env: dict[str, str], *words: str) -> str:
    """Run the command line where the package is installed; return what it said."""
    done = forked_run.brownout(*words, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_strangers_database_is_planned_checked_and_listed_by_its_entry_point(
    env: dict[str, str], tmp_path: Path
) -> None:
    assert "lab-stone" in brownout(env, "list", "clusters")
    assert "stone, 1 members, a lab on this machine" in brownout(env, "list", "clusters")
    brownout(env, "check", str(PACKAGE / "clusters" / "lab-stone.yaml"))
    plan = brownout(env, "plan", "node-pause", "--set", "cluster=lab-stone")
    assert "packages of stone: installed" in plan
    schema = json.loads(brownout(env, "schema", "inventory"))
    assert "latency_ms" in schema["$defs"]["lab_stone_stone"]["properties"]
    options = json.loads(brownout(env, "schema", "workload"))["$defs"]["DriverOptions"]
    databases = {"aerospike", "cassandra", "couchbase", "etcd", "mongodb", "postgresql", "redis"}
    assert set(options["properties"]) == {*databases, "scripted"}


def test_an_unknown_setting_of_its_lab_is_named_with_its_engine(
    env: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("{database: stone, environment: lab, lab: {engine: stone, oplog_mb: 4}}")
    done = forked_run.brownout("check", str(path), env=env)
    assert done.returncode == 64
    wanted = "lab.oplog_mb: unknown setting of the engine `stone`, wanted one of engine, members"
    assert wanted in done.stdout + done.stderr


def test_a_run_breaks_it_mends_it_and_measures_it(env: dict[str, str], tmp_path: Path) -> None:
    experiment = chaos.quick(chaos.load("node-pause"))
    given = ("--var", "cluster=lab-stone", "--var", "hang_s=2", *chaos.GENTLY)
    ran = chaos.run(experiment, tmp_path, *given, env=env)

    assert ran.deeds == [("pause_node", "n1"), ("resume_node", "n1")], ran.output
    assert ran.impact["cluster"]["engine"] == "stone 1.0"
    assert ran.impact["stand_in"]
    assert ran.impact["ledger"]["lost"] == 0
    (fault,) = ran.impact["faults"]
    assert [event["node"] for event in fault["events"]][:1] == ["n1"]
    assert fault["errors"]["client-timeout-total"] > 0  # it hung for longer than the deadline
