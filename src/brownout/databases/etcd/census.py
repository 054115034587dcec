"""The members of an etcd cluster that lives, by what one of them says: for an inventory of it."""

from contextlib import closing
from urllib.parse import urlsplit

from brownout.base.errors import ClusterError
from brownout.databases.access import by_password
from brownout.databases.etcd.link import LOGIN, Link
from brownout.databases.etcd.view import Entry, members_by
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census"]


def census(cluster: Cluster) -> Imported:
    """Return the members that the only one of `cluster` lists, by their client addresses.

    Raises `ClusterError` where it does not answer.
    """
    (seed,) = cluster.nodes
    with closing(Link(seed, by_password(cluster, LOGIN), cluster.connection.timeout_s)) as link:
        entries = members_by(link)
    if not entries:
        raise ClusterError(f"`{seed.address}` lists no members")
    machines = [_machine(entry) for entry in sorted(entries, key=lambda one: one.name)]
    return counted("etcd", seed.address, machines)


def _machine(entry: Entry) -> Machine:
    """Return a member; one that was added and never started has only its peers' address."""
    notes = ["it is a learner"] if entry.learner else []
    url = next(iter(entry.client_urls), "")
    if not url:
        notes.append("it was never started; its port is a guess")
    parts = urlsplit(url or next(iter(entry.peer_urls), ""))
    port = (parts.port or 0) if url else 0
    return Machine(entry.name, parts.hostname or "", database_port=port, notes=tuple(notes))
