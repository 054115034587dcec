"""A real mongod on a machine that is reached by ssh is slowed by netem; it ends by itself, too."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
import yaml
from pymongo.errors import PyMongoError
from tests import chaos_runner as chaos
from tests import kill_harness, uml
from tests.links import delayable
from tests.sshd import WHY_NOT
from tests.uml import Machine

from brownout.base.wait import wait_until
from brownout.databases.lab import network as lab_network
from brownout.databases.mongodb.lab.mongod import find_mongod
from brownout.inventory import inventory as inventories
from brownout.inventory.model import Cluster
from brownout.machine.ssh import pool
from brownout.run.latency import read_hlog

pytestmark = [
    pytest.mark.quiet,
    pytest.mark.matrix,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(WHY_NOT), reason=f"NOT TESTED: delays over ssh: {WHY_NOT}"),
]

PORT = 27117
LATENCY_MS = 120
#: What a mongod carries that runs in user-mode Linux.
LOAD = "data.keys=500,streams.lookups.rate=40,streams.orders.rate=20,streams.orders.ledger_keys=500"
_MONGOD = f"""
import os, sys
os.makedirs("/run/db")
program, address = sys.argv[1:]
os.execv(program, [
    program, "--dbpath", "/run/db", "--replSet", "far", "--bind_ip", address, "--port", "{PORT}",
    "--unixSocketPrefix", "/run", "--pidfilepath", "/run/db/mongod.pid",
    "--wiredTigerCacheSizeGB", "0.25", "--logpath", "/run/db/log",
])
"""


@pytest.fixture
def inventory(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Write the inventory of a set of one member, which runs on a machine with netem."""
    if reason := uml.why_not():
        pytest.skip(f"NOT TESTED: delays over ssh: {reason}")
    if reason := uml.unpacked(tmp_path / "uml"):
        pytest.skip(f"NOT TESTED: delays over ssh: {reason}")
    with contextlib.ExitStack() as stack:
        stack.callback(lab_network.remove, tmp_path)
        (place,) = lab_network.make(tmp_path, ["n1"]).values()
        words = (str(find_mongod()), place.address)
        machine = Machine(tmp_path / "uml", tmp_path / "machine", place, _MONGOD, *words)
        stack.callback(machine.stop)
        stack.callback(pool.close_all)
        machine.start()
        _form(place.address)

        def write(**host: Any) -> Path:
            commands = {"start": "true", "stop": "true", "pid_file": "/run/db/mongod.pid"}
            commands["program"] = "mongod"
            node = {
                "name": "n1",
                "address": f"{place.address}:{PORT}",
                "host": {"kind": "ssh", **machine.sshd.login(), "commands": commands, **host},
            }
            path = tmp_path / "far.yaml"
            cluster = {"name": "far", "database": "mongodb", "environment": "test"}
            connection = {"replica_set": "far"}
            path.write_text(yaml.safe_dump({**cluster, "nodes": [node], "connection": connection}))
            return path

        yield write


def _form(address: str) -> None:
    """Make the member that starts a set of its own, and wait until it is its primary."""
    members = [{"_id": 0, "host": f"{address}:{PORT}"}]
    with pymongo.MongoClient[dict[str, Any]](address, PORT, directConnection=True) as client:

        def serves() -> bool:
            try:
                return bool(client.admin.command("hello").get("isWritablePrimary"))
            except PyMongoError:
                return False

        def initiated() -> bool:
            client.admin.command("replSetInitiate", {"_id": "far", "members": members})
            return True

        assert wait_until(initiated, 120, despite=PyMongoError)
        assert wait_until(serves, 120), "there is no primary"


def test_every_answer_comes_so_much_later_and_then_as_before(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    far = str(inventory())
    ran = chaos.run_quickly(
        "slow-node", tmp_path, far, workload="lab", load=LOAD, latency_ms=LATENCY_MS, slow_s=6
    )
    print(ran.output)
    assert ran.deeds == [("delay_node", "n1"), ("undelay_node", "n1")], ran.output
    assert ran.directory is not None
    slowed, freed = (e for e in ran.events if e["stage"] == "effective")
    assert (slowed["evidence"]["by"], slowed["evidence"]["interface"]) == ("netem", "vec0")
    assert not freed["evidence"]["already"]
    assert "dropped_packets" not in freed["evidence"]
    log = read_hlog(ran.directory / "latency.hlog")
    slow = log.between(["lookups/read"], slowed["t"] + 1, freed["t"] - 1)
    assert slow is not None
    before = log.between(["lookups/read"], slowed["t"] - 2, slowed["t"])
    assert before is not None
    after = log.between(["lookups/read"], freed["t"] + 2, freed["t"] + 8)
    assert after is not None
    for name, found in (("before", before), ("slowed", slow), ("after", after)):
        print(name, found.at_rank(1), found.percentile_us(0.5), "us: quickest, median")
    assert (slow.at_rank(1) or 0) >= LATENCY_MS * 1000
    assert (before.at_rank(1) or 0) < LATENCY_MS * 1000
    assert (after.at_rank(1) or 0) < LATENCY_MS * 1000
    assert ran.impact["ledger"]["state"] == "clean"
    print("verdict:", ran.impact["verdict"], ran.impact["ledger"])
    ran.check_proven()


def test_a_run_killed_in_mid_delay_leaves_a_node_that_is_as_fast_as_before_by_itself(
    inventory: Callable[..., Path], tmp_path: Path
) -> None:
    path = inventory(undo_after_s=15)
    cluster: Cluster = inventories.load(path)
    where = tmp_path / "run"
    where.mkdir()
    given = (f"cluster={path}", "workload=lab", f"load={LOAD}", "slow_s=50")
    words = [word for one in given for word in ("--var", one)]
    settings = {"BROWNOUT_STATE": str(where / "state")}
    process = chaos.start(chaos.quick(chaos.load("slow-node")), where, *words, env=settings)
    host = delayable(cluster.nodes[0])
    assert wait_until(host.delayed, 240, stopped=lambda: process.poll() is not None)
    kill_harness.kill_tree(process.pid)
    process.communicate()
    assert wait_until(lambda: not host.delayed(), 120), "it is slow for good"
    healed = kill_harness.heal(cluster, where, settings)
    assert "undelay_node" in healed.mended
