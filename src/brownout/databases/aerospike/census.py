"""The nodes of an Aerospike cluster that lives, by what one says: for an inventory of it."""

import re

from brownout.base.errors import ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.aerospike.access import access
from brownout.databases.aerospike.info import ask, is_error
from brownout.databases.aerospike.racks import command, rack_ids
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census", "peers_in"]

_PEER = re.compile(r"\[([0-9A-Fa-f]+),[^,\[\]]*,\[(\[[^\]]*\](?::\d+)?|[^,\[\]]+)")


def census(cluster: Cluster) -> Imported:
    """Return the only node of `cluster` and its peers, by the first address of each.

    Raises `ClusterError` where it does not answer.
    """
    (seed,) = cluster.nodes
    way, timeout_s = access(cluster), cluster.connection.timeout_s
    peers = "peers-tls-std" if way.tls is not None else "peers-clear-std"
    answers = ask(seed.address, ["node", "namespaces", "cluster-name", peers], timeout_s, way)
    for name in ("node", peers):
        if is_error(answers.get(name, "ERROR")):
            raise ClusterError(f"`{seed.address}` does not answer `{name}`")
    namespaces = [name for name in answers.get("namespaces", "").split(";") if name]
    racks: dict[str, str] = {}
    if namespaces:
        asked = command(namespaces[0])
        answer = ask(seed.address, [asked], timeout_s, way).get(asked, "")
        racks = {} if is_error(answer) else rack_ids(answer)
    nodes = {answers["node"]: seed.address, **peers_in(answers[peers])}
    machines = []
    for id, address in sorted(nodes.items(), key=lambda one: host_and_port(one[1])):
        host, port = host_and_port(address)
        rack = racks.get(id, "")
        machines.append(Machine("", host, database_port=port, rack="" if rack == "0" else rack))
    name = answers.get("cluster-name", "")
    options = {"options": {"namespace": namespaces[0]}} if len(namespaces) == 1 else {}
    called = "aerospike" if not name or is_error(name) or name == "null" else name
    return counted(called, seed.address, machines, options)


def peers_in(answer: str) -> dict[str, str]:
    """Return the address of each peer of `7,3000,[[BB9…,,[10.0.0.2:3100,…]],…]`, by its id.

    One without a port listens at the port that the answer begins with.
    """
    usual = answer.partition(",")[2].partition(",")[0]
    addresses = {}
    for id, address in _PEER.findall(answer):
        has_port = re.search(r"(^[^:]*|\]):\d+$", address) is not None
        addresses[id] = address if has_port else f"{address}:{usual}"
    return addresses
