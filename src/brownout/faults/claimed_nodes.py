"""Which nodes a claim holds, by what they are and not by what an inventory calls them.

Two inventories may name one cluster differently, and one name may stand for two clusters. A node is
the same if an address, a process of this machine, or a cluster of a managed service is the same.
"""

import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from brownout.base.errors import BrownoutError
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import procfs
from brownout.machine.host import host_for

__all__ = ["ClaimedNode", "nodes_of", "overlap"]

_LOOPBACK = "loopback"


@dataclass(frozen=True, slots=True)
class ClaimedNode:
    """A node: its name and address as the inventory has them, and what sets it apart.

    `ClaimedNode("n1", "db1:7000", ("address 10.0.0.2:7000", "address db1:7000"))`
    """

    name: str
    address: str
    identities: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{self.name}` ({self.address})"


def nodes_of(cluster: Cluster) -> tuple[ClaimedNode, ...]:
    """Return all nodes of `cluster`, spares too, and the other addresses that clients connect to.

    None for a lab that is down.
    """
    nodes = [ClaimedNode(node.name, node.address, _identities(node)) for node in cluster.every]
    for host in cluster.connection.hosts if nodes else ():
        nodes.append(ClaimedNode("connection.hosts", host, tuple(_addresses(host))))
    if cluster.atlas is not None:
        place = f"{cluster.atlas.project}/{cluster.atlas.cluster}"
        nodes.append(ClaimedNode(cluster.atlas.cluster, place, (f"atlas {place}",)))
    return tuple(nodes)


def overlap(
    ours: Iterable[ClaimedNode], theirs: Sequence[ClaimedNode]
) -> tuple[ClaimedNode, ClaimedNode] | None:
    """Return a node of ours and what it is among theirs; None if they have nothing in common."""
    for our in ours:
        for their in theirs:
            if set(our.identities) & set(their.identities):
                return our, their
    return None


def _identities(node: Node) -> tuple[str, ...]:
    identities = _addresses(node.address)
    if isinstance(node.host, ProcessSpec):
        identities.append(f"pid_file {_network()} {os.path.realpath(node.host.pid_file)}")
        with suppress(BrownoutError):
            pid = host_for(node).running().pid
            process = procfs.identify(pid) if pid is not None else None
            if process is not None:
                identities.append(f"process {process.pid} started {process.started}")
    return tuple(identities)


def _addresses(address: str) -> list[str]:
    """Return `host:port` as it is written and as every address that the name has."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]").lower()
    try:
        hosts = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:  # a name that nothing here resolves is compared as it is written
        hosts = set()
    return sorted({f"address {_canonical(each)}:{port}" for each in {host, *hosts}})


def _canonical(host: str) -> str:
    """Return one form of each address; the loopback address of each container is its own."""
    try:
        ip = ip_address(host.partition("%")[0])
    except ValueError:
        return f"{_LOOPBACK} {_network()}" if host == "localhost" else host
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if str(ip) in ("127.0.0.1", "::1"):
        return f"{_LOOPBACK} {_network()}"
    return f"{_network()} {ip}" if ip.is_loopback else str(ip)


def _network() -> str:
    """Return which network this process is in: state may be shared by containers."""
    try:
        return f"{socket.gethostname()} {Path('/proc/self/ns/net').readlink()}"
    except OSError:
        return socket.gethostname()
