"""The members of a MongoDB cluster that lives, by what one of them says: for an inventory of it."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census"]

_RACKS = ("rack", "zone", "az", "availabilityZone")


def census(cluster: Cluster) -> Imported:
    """Return the members of the set of the only node of `cluster`, or, of a router, of all shards.

    Raises `ClusterError` where it does not answer, or is of no set.
    """
    (seed,) = cluster.nodes
    with closing(Link(seed, access(cluster), cluster.connection.timeout_s)) as link:
        hello = link.ask("hello")
        if hello.get("msg") == "isdbgrid":
            shards = link.ask("find", "shards", database="config")["cursor"]["firstBatch"]
            return _sharded(seed.address, shards)
        name = str(hello.get("setName") or "")
        if not name or hello.get("configsvr"):
            what = "a config server" if hello.get("configsvr") else "not a member of a replica set"
            raise ClusterError(
                f"`{seed.address}` is {what}",
                "give the address of a member, or of a router (mongos)",
            )
        configuration = _configuration(link)
    if configuration is None:
        names = ("hosts", "passives", "arbiters")
        listed = [str(one) for kind in names for one in hello.get(kind) or ()]
        machines = [_machine(address) for address in sorted(set(listed))]
        note = "Hidden members are not known without `replSetGetConfig` (docs/rights.md)."
        return counted(name, seed.address, machines, {"replica_set": name}, note)
    machines = [_member(one) for one in configuration.get("members") or ()]
    return counted(name, seed.address, machines, {"replica_set": name})


def _configuration(link: Link) -> Mapping[str, Any] | None:
    """Return the set's configuration; None where our login may not see it."""
    try:
        configuration: Mapping[str, Any] = link.ask("replSetGetConfig")["config"]
    except CommandFailed:
        return None
    return configuration


def _member(member: Mapping[str, Any]) -> Machine:
    tags = member.get("tags") or {}
    rack = next((str(tags[name]) for name in _RACKS if tags.get(name)), "")
    kinds = {"arbiterOnly": "an arbiter", "hidden": "hidden"}
    notes = [f"it is {what}" for name, what in kinds.items() if member.get(name)]
    return _machine(str(member["host"]), rack=rack, notes=tuple(notes))


def _machine(address: str, **settings: Any) -> Machine:
    host, port = host_and_port(address)
    return Machine("", host, database_port=port, **settings)


def _sharded(router: str, shards: Iterable[Mapping[str, Any]]) -> Imported:
    machines = []
    for shard in shards:  # {"_id": "s1", "host": "s1/db1:27018,db2:27018"}
        for address in str(shard["host"]).partition("/")[2].split(","):
            machines.append(_machine(address, shard=str(shard["_id"])))
    return counted("mongodb", router, machines, {"hosts": [router]})
