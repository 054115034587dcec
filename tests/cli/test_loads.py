"""A load by itself has the cluster alone, is asked as a run is, and leaves nothing that blocks."""

import getpass
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout, set_each
from tests.wording import mentions, naming

from brownout.base.errors import Refused
from brownout.faults import heal, open_runs
from brownout.faults.claimed_nodes import nodes_of
from brownout.inventory import inventory
from brownout.inventory.model import Cluster

SMALL = (
    "namespace=brownout_loads,data.keys=50,streams.orders.ledger_keys=20,"
    "streams.lookups.rate=20,streams.orders.rate=20"
)
PRODUCTION = "database: mongodb\nenvironment: production\nlab: {engine: mongodb}\n"
#: Each with what it does to a cluster at least.
LOADS = {
    "load": ("load", "lab", "--for", "1s"),
    "fill": ("fill", "lab"),
    "clean": ("clean", "--workload", "lab"),
    "capacity": ("capacity", "lab", "--sla", "lookups.read.p50=900ms"),
}


@pytest.fixture(params=list(LOADS))
def load(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A command that puts a load on a cluster."""
    return LOADS[request.param]


@pytest.fixture
def no_lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a lab would be, if one were brought up."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(home / "lab"))
    return home / "lab"


def test_a_load_beside_a_run_is_refused(
    load: tuple[str, ...], brownout: Brownout, home: Path, no_lab: Path
) -> None:
    open_runs.claim("lab-mongodb", home / "run", "lab-mongodb", brought_up=False)
    try:
        said = brownout(*load)
    finally:
        open_runs.release("lab-mongodb")
    assert (said.code, mentions(said.err, home / "run", os.getpid())) == (64, True), said.err
    assert not no_lab.exists()


def test_a_load_on_a_cluster_that_a_run_left_broken_is_refused(
    load: tuple[str, ...], brownout: Brownout, home: Path, no_lab: Path
) -> None:
    _left_by_the_dead(home, "run")
    said = brownout(*load)
    assert (said.code, "`brownout heal lab-mongodb` does that" in said.err) == (64, True), said.err
    assert not no_lab.exists()


def test_a_load_on_production_wants_its_name(
    load: tuple[str, ...],
    brownout: Brownout,
    home: Path,
    no_lab: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (home / "shop.yaml").write_text(PRODUCTION)
    monkeypatch.setenv("BROWNOUT_CONFIRM", "orders")
    said = brownout(*load, "--cluster", home / "shop.yaml")
    assert said.code == 64
    assert mentions(said.err, "environment: `shop`", "`orders`")
    assert not no_lab.exists()


def test_a_load_outside_the_allowed_hours_is_refused(
    load: tuple[str, ...],
    brownout: Brownout,
    home: Path,
    no_lab: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    never = f"{time.strftime('%a', time.gmtime(time.time() + 3 * 86_400))} 03:00-03:01 UTC"
    (home / "shop.yaml").write_text(f'{PRODUCTION}guards: {{allowed_hours: ["{never}"]}}\n')
    monkeypatch.setenv("BROWNOUT_CONFIRM", "shop")
    said = brownout(*load, "--cluster", home / "shop.yaml")
    assert (said.code, "allowed hours: it is" in said.err) == (64, True), said.err
    assert "environment" not in said.err
    assert not no_lab.exists()


@pytest.mark.parametrize("kind", ["run", "load"])
def test_only_the_claim_of_a_dead_load_is_put_away_without_a_heal(
    home: Path, no_lab: Path, kind: str
) -> None:
    _left_by_the_dead(home, kind)
    said: list[str] = []
    if kind == "run":
        with pytest.raises(Refused, match=naming(home / "dead", "lab-mongodb")):
            heal.make_free(inventory.declared("lab-mongodb"), said.append)
        assert open_runs.claim_on("lab-mongodb")
    else:
        heal.make_free(inventory.declared("lab-mongodb"), said.append)
        assert said[0].startswith(f"the load {home / 'dead'} died")
        assert open_runs.claims() == []


def test_a_cluster_that_is_lent_is_taken_again(home: Path) -> None:
    with open_runs.holding("shop", home / "search", "shop", brought_up=True):
        (before,) = open_runs.claims()
        with open_runs.lent("shop"):
            assert open_runs.claims() == []
            take = ("from pathlib import Path; from brownout.faults import open_runs as o; "
                    "o.claim('shop', Path('run'), 'shop', False); o.release('shop')")  # fmt: skip
            subprocess.run([sys.executable, "-c", take], check=True)
        assert open_runs.claims() == [before]
    assert open_runs.claims() == []


def test_a_load_has_the_cluster_until_it_is_told_to_stop(
    lab_mongodb: Cluster, brownout: Brownout, home: Path
) -> None:
    with _started_load() as first:
        second = brownout("load", "lab", "--for", "1s", *set_each(SMALL))
        assert (second.code, mentions(second.err, first.pid)) == (64, True), second.err
        assert brownout("clean", "--workload", "lab", *set_each(SMALL)).code == 64
        told = brownout("abort", "lab-mongodb")
        assert told.code == 0, told.err
        out, err = first.communicate(timeout=60)
    assert (first.returncode, "ledger: 20 of 20 keys read back" in out) == (0, True), err
    assert open_runs.claims() == []
    assert brownout("clean", "--workload", "lab", *set_each(SMALL)).code == 0


def test_a_load_that_was_killed_blocks_nobody_and_its_generator_is_ended(
    lab_mongodb: Cluster, brownout: Brownout, home: Path
) -> None:
    with _started_load() as first:
        first.kill()
        first.communicate()
    next_one = brownout("load", "lab", "--for", "1s", *set_each(SMALL), "--clean")
    assert next_one.code == 0, next_one.err
    assert "died; what it left is ended" in next_one.err
    assert "stopping the load generator" in next_one.err
    assert "ledger: 20 of 20 keys read back" in next_one.out
    assert open_runs.claims() == []


def test_a_load_by_another_name_on_nodes_that_a_run_has_is_refused(
    lab_mongodb: Cluster, brownout: Brownout, home: Path
) -> None:
    nodes = [{"name": node.name, "address": node.address} for node in lab_mongodb.nodes]
    copy = {"name": "copy", "database": "mongodb", "environment": "test", "nodes": nodes}
    (home / "copy.yaml").write_text(json.dumps(copy))
    held = nodes_of(lab_mongodb)
    open_runs.claim("lab-mongodb", home / "run", "lab-mongodb", brought_up=False, nodes=held)
    try:
        refused = [
            brownout(*words, "--cluster", home / "copy.yaml", *set_each(SMALL))
            for words in (("load", "lab", "--for", "1s"), ("clean", "--workload", "lab"))
        ]
    finally:
        open_runs.release("lab-mongodb")
    for each in refused:
        wanted = f"`n1` ({lab_mongodb.nodes[0].address}) of cluster `copy`, which is node `n1`"
        assert (each.code, wanted in each.err) == (64, True), each.err


def test_a_run_of_another_machine_is_seen_by_the_claim_in_the_cluster(
    lab_mongodb: Cluster, brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _started_load() as first:
        monkeypatch.setenv("BROWNOUT_STATE", str(home / "elsewhere"))
        monkeypatch.setenv("BROWNOUT_RUNS", str(home / "runs-elsewhere"))
        refused = [
            brownout(*words, *set_each(SMALL))
            for words in (("load", "lab", "--for", "1s"), ("clean", "--workload", "lab"))
        ]
        planned = brownout("plan", "node-kill", "--cluster", lab_mongodb.name)
        monkeypatch.setenv("BROWNOUT_STATE", str(home / "state"))
        monkeypatch.setenv("BROWNOUT_RUNS", str(home / "runs"))
        assert brownout("abort", "lab-mongodb").code == 0
        out, err = first.communicate(timeout=60)
    assert (first.returncode, "ledger: 20 of 20 keys read back" in out) == (0, True), err
    holder = f"{getpass.getuser()}@{socket.gethostname()}"
    for each in refused:
        assert (each.code, holder in each.err) == (64, True), each.err
    assert not list((home / "runs-elsewhere").glob("*"))
    assert re.search(f"NO   cluster is free: .*{holder}", planned.out), planned.out
    assert brownout("clean", "--workload", "lab", *set_each(SMALL)).code == 0


@contextmanager
def _started_load() -> Iterator[subprocess.Popen[str]]:
    """Have a load in a process of its own, which drives the cluster already."""
    command = [sys.executable, "-m", "brownout", "load", "lab", "--for", "5m", *set_each(SMALL)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    runs, deadline = Path(os.environ["BROWNOUT_RUNS"]), time.monotonic() + 60
    try:
        while not any(len(path.read_text().splitlines()) > 2 for path in runs.glob("*/series.csv")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _left_by_the_dead(home: Path, kind: str) -> None:
    left = {"cluster": "lab-mongodb", "run": str(home / "dead"), "inventory": "lab-mongodb",
            "brought_up": True, "pid": 2**22 + 1, "started": 1, "command": ["brownout"],
            "kind": kind}  # fmt: skip
    place = home / "state" / "open"
    place.mkdir(parents=True)
    (place / "lab-mongodb.json").write_text(json.dumps(left))
