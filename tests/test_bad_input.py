"""Bad input to `chaos run`: one clear error, nothing touched, no run directory left behind."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster


def _refused(ran: chaos.Ran, *words: str) -> None:
    """The run was refused with all of `words`, before anything was touched."""
    assert ran.code == 1, ran.output
    missing = [word for word in words if word not in ran.output]
    assert missing == [], ran.output
    assert "Traceback" not in ran.output
    assert ran.journal["status"] == "interrupted"
    assert ran.journal["run"] == []
    broken = [] if ran.directory is None else [e for e in ran.events if e["type"] == "break"]
    assert broken == []


def _inventory(where: Path, **settings: Any) -> dict[str, str]:
    hosts = [{"pid_file": str(where / f"{i}.pid"), "command": ["mongod"]} for i in (1, 2, 3)]
    nodes = [
        {"name": f"n{i}", "address": f"127.0.0.1:{i}", "host": host}
        for i, host in enumerate(hosts, 1)
    ]
    given = {"database": "mongodb", "environment": "test", "nodes": nodes, **settings}
    (where / "mine.yaml").write_text(yaml.safe_dump(given))
    return {"BROWNOUT_CLUSTERS": str(where), "BROWNOUT_CLUSTER": "mine"}


def test_an_unknown_cluster_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env={"BROWNOUT_CLUSTER": "nowhere"})
    _refused(ran, "unknown cluster `nowhere`", "lab-mongodb", "BROWNOUT_CLUSTERS")


def test_an_unreachable_cluster_is_refused_with_each_member(tmp_path: Path) -> None:
    environment = _inventory(tmp_path, connection={"replica_set": "rs"})
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env=environment)
    _refused(ran, "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "refused")


def test_a_malformed_workload_is_refused_with_all_its_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        "streams:\n  - {name: a, mix: {reed: 1}, rate: -5}\n  - {name: b, mix: {read: 1}}\n"
    )
    ran = chaos.run(
        chaos.load("node-kill"), tmp_path, env={"BROWNOUT_WORKLOAD": str(tmp_path / "bad.yaml")}
    )
    _refused(ran, "3 problems", "streams[0].mix.reed", "streams[0].rate", "streams[1]")


def test_errors_of_all_kinds_are_told_at_once(tmp_path: Path) -> None:
    ran = chaos.run(
        chaos.load("node-kill"),
        tmp_path,
        "--var",
        "limits=recovery_tim=3",
        env={"BROWNOUT_CLUSTER": "nowhere", "BROWNOUT_WORKLOAD": "none", "BROWNOUT_SEED": "x"},
    )
    _refused(ran, "nowhere", "workload `none`", "configuration.seed")


def test_a_missing_secret_is_refused_by_its_name(tmp_path: Path) -> None:
    auth = {"mechanism": "scram", "username": "u", "password": {"env": "NO_SUCH_SECRET_HERE"}}
    environment = _inventory(tmp_path, connection={"replica_set": "rs", "auth": auth})
    _refused(chaos.run(chaos.load("node-kill"), tmp_path, env=environment), "NO_SUCH_SECRET_HERE")


def test_a_wipe_that_the_inventory_does_not_allow_is_refused(tmp_path: Path) -> None:
    environment = _inventory(tmp_path, connection={"replica_set": "rs"})
    ran = chaos.run(chaos.load("node-wipe"), tmp_path, env=environment)
    _refused(ran, "data loss", "allow_data_loss: true")


def test_a_production_cluster_is_refused_without_its_name(tmp_path: Path) -> None:
    environment = _inventory(tmp_path, environment="production")
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env=environment)
    _refused(ran, "production", "BROWNOUT_CONFIRM=mine")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("availability=1.5", "availability"),
        ("recovery_tim=3", "recovery_tim"),
    ],
)
def test_an_impossible_limit_is_refused(limits: str, words: str, tmp_path: Path) -> None:
    ran = chaos.run(chaos.load("node-kill"), tmp_path, "--var", f"limits={limits}")
    _refused(ran, words)
    assert ran.directory is None


def test_a_limit_in_the_environment_is_checked_too(tmp_path: Path) -> None:
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env={"BROWNOUT_LIMIT_RECOVERY_TIME": "fast"})
    _refused(ran, "BROWNOUT_LIMIT_RECOVERY_TIME", "fast")


@pytest.mark.usefixtures("lab_mongodb")
def test_an_unsupported_scenario_is_refused_and_no_milder_one_is_done(tmp_path: Path) -> None:
    experiment = chaos.load("node-kill")
    experiment["extensions"][0]["needs"] = ["quiesce"]
    _refused(chaos.run(experiment, tmp_path), "unsupported", "quiesce")


@pytest.mark.usefixtures("lab_mongodb")
def test_an_unknown_target_is_refused_with_the_choices(tmp_path: Path) -> None:
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env={"BROWNOUT_TARGET": "leader"})
    _refused(ran, "leader", "primary", "secondary")


@pytest.mark.usefixtures("lab_mongodb")
def test_a_full_disk_is_noticed_before_the_load_starts(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("this machine does not let us mount a small file system")
    try:
        ran = chaos.run(chaos.load("node-kill"), tmp_path, env={"BROWNOUT_RUNS": str(small)})
        _refused(ran, "free", "BROWNOUT_RUNS")
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.usefixtures("lab_mongodb")
def test_a_run_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    ran = chaos.run(
        chaos.load("node-kill"), tmp_path, env={"BROWNOUT_RUNS": str(tmp_path / "file" / "runs")}
    )
    _refused(ran, "run directory", "BROWNOUT_RUNS")


def test_a_second_run_on_a_cluster_in_use_is_refused(lab_mongodb: Cluster, tmp_path: Path) -> None:
    from brownout.faults import open_runs

    state = str(tmp_path / "state")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_STATE", state)
        open_runs.claim(lab_mongodb.name, tmp_path, lab_mongodb.name, brought_up=False)
    ran = chaos.run(chaos.load("node-kill"), tmp_path, env={"BROWNOUT_STATE": state})
    _refused(ran, "in the hands of", str(os.getpid()))
