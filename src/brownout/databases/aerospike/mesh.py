"""Whom a node knows: the seeds that it dials, its peers and its alumni, in its own words.

seed      a heartbeat address that it dials for ever: of its configuration, or told by `tip:`
peer      another member of its cluster now
alumnus   a peer of some time since it started, and each peer too
"""

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from brownout.base.errors import Refused
from brownout.databases.aerospike import storage
from brownout.databases.aerospike.conf import heartbeat_endpoint
from brownout.databases.aerospike.view import View
from brownout.inventory.model import Node
from brownout.machine.host import host_for

__all__ = ["ALUMNI", "NETWORK", "PEERS", "Endpoint", "endpoint_of", "peers", "seeds", "strangers"]

NETWORK = "get-config:context=network"
PEERS = "peers-clear-std"
ALUMNI = "alumni-clear-std"
_SEED = "mesh-seed-address-port="
_LOOPBACK = frozenset(("127.0.0.1", "::1"))
_ID = re.compile(r"\[([0-9A-Fa-f]+),")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a node listens for heartbeats; `hosts` are all names that are known for it."""

    hosts: frozenset[str]
    port: int
    host: str

    def named_by(self, seeds: Iterable[str]) -> list[str]:
        """Return those of `seeds` that mean this node, each as it is written."""
        return [
            seed
            for seed in seeds
            if seed.rpartition(":")[2] == str(self.port) and _host(seed) in self.hosts
        ]

    def name_beside(self, seeds: Iterable[str]) -> str:
        """Return a name for the node that none of `seeds` has, if there is one.

        A server resolves only the first of its seeds that have one and the same name, so that of
        several nodes on one machine the others would never be dialled.
        """
        taken = {_host(seed) for seed in seeds}
        return next((n for n in (self.host, *sorted(self.hosts)) if n not in taken), self.host)


def endpoint_of(node: Node) -> Endpoint:
    """Return where `node` listens for heartbeats, by its own configuration file.

    Raises `Refused` where that cannot be read or does not say.
    """
    own = node.address.rpartition(":")[0].strip("[]")
    endpoint = heartbeat_endpoint(storage.configuration(node, host_for(node)), own)
    if endpoint is None:
        raise Refused(
            f"node `{node.name}`: its configuration gives no port in `network.heartbeat`",
            "the nodes find each other there, so the others cannot be told of it",
        )
    host, port = endpoint
    return Endpoint(_names(host) | _names(own), port, host)


def seeds(view: View) -> list[str]:
    """Return the seeds of a node that was asked for NETWORK, as `127.0.0.1:3012`."""
    parts = view.answers.get(NETWORK, "").split(";")
    return [part.partition("=")[2] for part in parts if _SEED in part]


def peers(view: View) -> set[str]:
    """Return the ids of the other members, by a node that was asked for PEERS."""
    return set(_ID.findall(view.answers.get(PEERS, "")))


def strangers(view: View) -> set[str]:
    """Return the ids that a node remembers and that are not members now."""
    return set(_ID.findall(view.answers.get(ALUMNI, ""))) - peers(view)


def _host(seed: str) -> str:
    return seed.rpartition(":")[0].strip("[]")


def _names(host: str) -> frozenset[str]:
    """Return a host's name and its addresses, as this machine resolves them.

    What is on this machine is also called `localhost`.
    """
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset((host,))
    addresses = {host, *(str(address[4][0]) for address in entries)}
    return frozenset(addresses | ({"localhost"} if addresses & _LOOPBACK else set()))
