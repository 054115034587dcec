"""A real mongod on a machine in user-mode Linux (`tests.uml`), which is reached by ssh."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
import yaml
from pymongo.errors import PyMongoError
from tests import uml
from tests.uml import Machine

from brownout.base.wait import wait_until
from brownout.databases.lab import network as lab_network
from brownout.databases.mongodb.lab.mongod import find_mongod
from brownout.machine.ssh import pool

__all__ = ["LOAD", "inventories_of"]

PORT = 27117
#: What it carries there.
LOAD = "data.keys=500,streams.lookups.rate=40,streams.orders.rate=20,streams.orders.ledger_keys=500"
_MONGOD = f"""
import os, sys
os.makedirs("/run/db")
program, address = sys.argv[1:3]
{{before}}
os.execv(program, [
    program, "--dbpath", "/run/db", "--replSet", "far", "--bind_ip", address, "--port", "{PORT}",
    "--unixSocketPrefix", "/run", "--pidfilepath", "/run/db/mongod.pid",
    "--wiredTigerCacheSizeGB", "0.25", "--logpath", "/run/db/log",
])
"""


@contextlib.contextmanager
def inventories_of(
    directory: Path, before: str = "", disk: Path | None = None
) -> Iterator[Callable[..., Path]]:
    """Boot it, with `disk` as /dev/ubda; give what writes the inventory of its set of one member.

    `before` is Python that runs there before the mongod. `sys.argv[3]` has the unpacked packages.
    """
    if reason := uml.why_not() or uml.unpacked(directory / "uml"):
        pytest.skip(f"NOT TESTED: a machine of its own: {reason}")
    with contextlib.ExitStack() as stack:
        stack.callback(lab_network.remove, directory)
        (place,) = lab_network.make(directory, ["n1"]).values()
        words = (str(find_mongod()), place.address, str(directory / "uml"))
        program = _MONGOD.replace("{before}", before)
        machine = Machine(directory / "uml", directory / "machine", place, program, *words)
        stack.callback(machine.stop)
        stack.callback(pool.close_all)
        machine.start(disk)
        _form(place.address)

        def write(**host: Any) -> Path:
            commands = {"start": "true", "stop": "true", "pid_file": "/run/db/mongod.pid"}
            commands["program"] = "mongod"
            node = {
                "name": "n1",
                "address": f"{place.address}:{PORT}",
                "host": {"kind": "ssh", **machine.sshd.login(), "commands": commands, **host},
            }
            path = directory / "far.yaml"
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
        assert wait_until(serves, 120), "no member became primary"
