"""A canary beside a load, as processes: it sees what happens, and can do the run no harm."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aerospike
import pymongo
import pytest
from tests.waiting import await_true

from brownout.databases.adapter import adapter_for
from brownout.databases.canary import KEYS
from brownout.inventory.canary import CanarySpec
from brownout.inventory.model import Cluster
from brownout.load.canary import CanaryBeside
from brownout.run.canary import HEADER, Call, CanaryRecord, read_canary
from brownout.run.directory import RunDirectory

QUICK = CanarySpec(rate=20, threads=4)


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create("canary", 1, tmp_path)


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which every connection is refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def load_spec(cluster: Cluster) -> dict[str, Any]:
    adapter = adapter_for(cluster)
    try:
        return {**adapter.load_spec(), "namespace": "brownout"}
    finally:
        adapter.close()


def read(directory: RunDirectory) -> CanaryRecord:
    record = read_canary(directory.canary, directory.canary_calls)
    assert record is not None
    return record


def has_seen(directory: RunDirectory, calls: int = 8) -> bool:
    return directory.canary_calls.exists() and len(read(directory).calls) >= calls


def watched(directory: RunDirectory, spec: dict[str, Any]) -> CanaryRecord:
    """What a canary saw that was ended after some calls."""
    canary = CanaryBeside(QUICK, directory)
    canary.start(spec, now=100.0)
    await_true(lambda: has_seen(directory))
    canary.end()
    return read(directory)


def check(record: CanaryRecord, client: str) -> None:
    assert record.about["client"] == client
    assert record.about["ended"] is True
    assert record.about["removed"] is True
    assert all(call.ok for call in record.calls), record.calls
    assert {call.op for call in record.calls} == {"read", "write"}
    assert all(call.t >= 100.0 for call in record.calls)


def test_it_uses_mongodb_through_pymongo_and_leaves_nothing(
    lab_mongodb: Cluster, directory: RunDirectory
) -> None:
    spec = load_spec(lab_mongodb)
    record = watched(directory, spec)
    check(record, "pymongo")
    assert record.about["policies"]["w"] == "majority"
    assert record.about["policies"]["serverSelectionTimeoutMS"] == 30_000
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(spec["connection"]["uri"])
    with client:
        assert "canary" not in client["brownout"].list_collection_names()


def test_it_uses_aerospike_through_its_own_client_and_leaves_nothing(
    lab_aerospike: Cluster, directory: RunDirectory
) -> None:
    spec = load_spec(lab_aerospike)
    check(watched(directory, spec), "aerospike")
    hosts = [split_address(node.address) for node in lab_aerospike.nodes]
    client: Any = aerospike.client({"hosts": hosts})
    try:
        place = (spec["options"]["namespace"], "brownout-canary")
        found = [client.exists((*place, key))[1] for key in KEYS]
    finally:
        client.close()
    assert found == [None] * len(KEYS)


def split_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def unreachable(nobody: str, password: str = "") -> dict[str, Any]:
    return {
        "driver": "mongodb",
        "connection": {"uri": f"mongodb://{nobody}/", "username": "app", "password": password},
        "options": {},
        "namespace": "brownout",
    }


def test_one_that_cannot_connect_says_so_without_its_password_and_raises_nothing(
    nobody: str, directory: RunDirectory
) -> None:
    spec = CanarySpec(policies={"serverSelectionTimeoutMS": 200})
    canary = CanaryBeside(spec, directory)
    canary.start(unreachable(nobody, "hunter2hunter2"), now=0.0)
    await_true(lambda: "detail" in read(directory).about)
    canary.end()
    about = read(directory).about
    assert about["detail"].startswith("ServerSelectionTimeoutError: ")
    assert "hunter2" not in json.dumps(about)
    assert about.get("ended") is not True


def test_the_death_of_one_is_named(lab_mongodb: Cluster, directory: RunDirectory) -> None:
    canary = CanaryBeside(QUICK, directory)
    canary.start(load_spec(lab_mongodb), now=0.0)
    await_true(lambda: has_seen(directory))
    assert canary.pid is not None
    os.kill(canary.pid, signal.SIGKILL)
    await_true(lambda: not canary.alive)
    canary.end()
    assert read(directory).about["detail"] == "its process died during the run (signal 9)"


def test_one_that_hangs_is_ended_and_named(nobody: str, directory: RunDirectory) -> None:
    canary = CanaryBeside(QUICK, directory, within_s=0.5)
    canary.start(unreachable(nobody), now=0.0)
    assert canary.pid is not None
    os.kill(canary.pid, signal.SIGSTOP)
    canary.end()
    assert not canary.alive
    detail = read(directory).about["detail"]
    assert detail.startswith("it had not ended 0.5 s after it was told to")


def test_one_whose_calls_have_no_end_is_measured_and_says_so(directory: RunDirectory) -> None:
    """Only the set-up is answered; after it the server is silent, and the client waits."""
    program = (
        "import sys, threading, time\n"
        "from brownout.load.canary.process import Calls\n"
        "from brownout.inventory.canary import CanarySpec\n"
        "class Silent:\n"
        "    def write(self, key, value): time.sleep(60)\n"
        "    read = lambda self, key: time.sleep(60)\n"
        "end = threading.Event()\n"
        "threading.Timer(0.3, end.set).start()\n"
        "Calls(None, Silent(), CanarySpec(rate=20, threads=2), time.monotonic())"
        ".run(sys.stdout, end)\n"
        "import os; os._exit(0)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    directory.canary.write_text("{}")
    directory.canary_calls.write_text(",".join(HEADER) + "\n" + said.stdout)
    calls = read(directory).calls
    assert len(calls) >= 4
    assert {call.cause for call in calls} == {"unfinished"}


def test_it_ends_by_itself_when_the_run_dies(
    lab_mongodb: Cluster, directory: RunDirectory, tmp_path: Path
) -> None:
    orders = tmp_path / "spec.json"
    orders.write_text(json.dumps(load_spec(lab_mongodb)))
    program = (
        "import json, os, sys, time\n"
        "from pathlib import Path\n"
        "from brownout.inventory.canary import CanarySpec\n"
        "from brownout.load.canary import CanaryBeside\n"
        "from brownout.run.directory import RunDirectory\n"
        "canary = CanaryBeside(CanarySpec(), RunDirectory(Path(sys.argv[2])))\n"
        "canary.start(json.loads(Path(sys.argv[1]).read_text()), 0.0)\n"
        "print(canary.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program, str(orders), str(directory.path)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        await_true(lambda: has_seen(directory))
        run.kill()
    await_true(lambda: not Path(f"/proc/{pid}").exists())
    record = read(directory)
    assert record.about["removed"] is True
    assert isinstance(record.calls[0], Call)
