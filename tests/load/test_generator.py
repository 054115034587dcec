"""The generator process: what it does when told, and when it is not well treated."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pymongo
import pytest
from tests.wording import naming

from brownout.base.errors import GeneratorError
from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster
from brownout.load import workload as workloads
from brownout.load.generator import Generator
from brownout.load.session import run_load

from .conftest import GENTLY, KEYS, Running


@pytest.fixture
def target(lab_mongodb: Cluster) -> Iterator[dict[str, Any]]:
    """How a generator connects to the shared lab."""
    adapter = adapter_for(lab_mongodb)
    yield adapter.load_spec()
    adapter.close()


def test_a_load_runs_is_verified_and_cleaned(target: dict[str, Any], tmp_path: Path) -> None:
    steps: list[tuple[str, bool]] = []
    lives: list[Mapping[str, Any]] = []
    # How soon a busy machine answers is no matter here.
    patient = "streams.lookups.deadline_s=10,streams.orders.deadline_s=10"
    workload = workloads.load("lab", f"{GENTLY},{patient},namespace=brownout-once")
    result = run_load(
        workload,
        target,
        tmp_path / "run",
        2.0,
        seed=1,
        on_live=lives.append,
        progress=lambda what, done, total: steps.append((what, done == total)),
        clean=True,
    )
    assert not result.interrupted
    assert result.stopped["offered"] >= 2 * workload.rate
    assert result.stopped["ok"] > 0.9 * result.stopped["offered"]
    assert result.verified == {"event": "verified", "keys": KEYS, "read": KEYS, "unread": 0}
    assert ("loading", True) in steps
    assert ("verifying", True) in steps
    assert lives
    with pymongo.MongoClient[dict[str, Any]](target["connection"]["uri"]) as client:
        assert "brownout-once" not in client.list_database_names()


def test_a_data_set_that_is_there_already_is_not_written_again(
    target: dict[str, Any], tmp_path: Path
) -> None:
    reads = {
        "namespace": "brownout-kept",
        "data": {"keys": 100, "value_bytes": 8},
        "streams": [{"name": "app", "mix": {"read": 1}, "rate": 100}],
    }
    run_load(workloads.parse(reads), target, tmp_path / "first", 0.2, seed=1)
    kept = workloads.parse({**reads, "data": {**reads["data"], "load": False}})  # type: ignore[dict-item]
    steps: list[str] = []
    result = run_load(
        kept,
        target,
        tmp_path / "second",
        0.2,
        seed=1,
        progress=lambda what, done, total: steps.append(what),
        clean=True,
    )
    assert result.stopped["ok"] > 0
    assert not steps


def test_the_record_says_how_the_driver_was_set(target: dict[str, Any], tmp_path: Path) -> None:
    changes = "options.mongodb.write_concern=1,streams.lookups.retries=driver-default"
    run_load(workloads.load("lab", changes), target, tmp_path, 0.5, seed=1)
    settings = json.loads((tmp_path / "generator.json").read_text())["driver_settings"]
    assert settings["write_concern"] == "1"
    assert settings["driver_retries"]["orders"] == "off"
    assert settings["driver_retries"]["lookups"].startswith("retryWrites and retryReads")
    assert settings["heartbeat_ms"] == 10_000


def test_the_clocks_are_compared_and_live_figures_come(running: Callable[..., Running]) -> None:
    load = running()
    generator = load.generator
    assert generator.clock_uncertainty is not None
    assert generator.clock_uncertainty < 0.1
    now = generator.now()
    assert now is not None
    assert abs(now - load.lives[-1]["t"]) < 5
    assert generator.live.snapshot().keys == (("lookups", "read"), ("orders", "update"))
    assert generator.stop() == generator.stop()


def test_a_ctrl_c_in_the_terminal_does_not_reach_the_generator(
    running: Callable[..., Running],
) -> None:
    generator = running().generator
    assert os.getsid(generator.pid) == generator.pid != os.getsid(0)


def test_closing_ends_the_process_and_its_load(running: Callable[..., Running]) -> None:
    load = running()
    pid = load.generator.pid
    load.generator.close()
    load.generator.close()
    assert not load.generator.alive
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert json.loads((load.directory / "generator.json").read_text())["ended"] is True


def test_a_generator_that_dies_is_noticed(running: Callable[..., Running]) -> None:
    load = running()
    os.kill(load.generator.pid, 9)
    with pytest.raises(GeneratorError, match="signal 9"):
        load.generator.stop()
    assert not load.generator.alive


def test_an_unreachable_cluster_is_named_and_the_password_is_not(tmp_path: Path) -> None:
    spec = workloads.load("lab").to_spec(
        directory=tmp_path,
        seed=1,
        writer="x",
        driver="mongodb",
        connection={
            "uri": "mongodb://127.0.0.1:1/?replicaSet=rs",
            "username": "me",
            "password": "s3cr3t",
        },
        options={"server_selection_timeout_ms": 300},
    )
    with Generator(tmp_path) as generator, pytest.raises(GeneratorError) as caught:
        generator.open(spec)
    assert "127.0.0.1:1" in str(caught.value)
    assert "refused" in str(caught.value)
    written = "".join(path.read_text(errors="replace") for path in tmp_path.iterdir())
    assert "s3cr3t" not in str(caught.value) + written


def test_a_database_of_somebody_else_is_refused(target: dict[str, Any], tmp_path: Path) -> None:
    name = "shop"
    with pymongo.MongoClient[dict[str, Any]](target["connection"]["uri"]) as client:
        client[name]["customers"].insert_one({"_id": 1})
        try:
            with pytest.raises(GeneratorError, match=naming("shop", "customers")):
                run_load(workloads.load("lab", f"namespace={name}"), target, tmp_path, 1.0, seed=1)
            assert client[name]["customers"].count_documents({}) == 1
        finally:
            client.drop_database(name)
