"""The nodes of a Cassandra cluster that lives, by what one of them says: for an inventory of it."""

from collections.abc import Sequence
from contextlib import closing

from brownout.base.settings import host_and_port
from brownout.databases.access import by_password
from brownout.databases.cassandra.link import LOGIN, CommandFailed, Link, Row
from brownout.inventory.importers.census import counted
from brownout.inventory.importers.machine import Imported, Machine
from brownout.inventory.model import Cluster

__all__ = ["census"]

#: Of a node that listens at every address.
_ANY = ("", "0.0.0.0", "::", "None")


def census(cluster: Cluster) -> Imported:
    """Return the only node of `cluster`, and its peers, by `system.local` and `system.peers`.

    Raises `ClusterError` where it does not answer.
    """
    (seed,) = cluster.nodes
    access = by_password(cluster, LOGIN)
    with closing(Link(seed, access, cluster.connection.timeout_s)) as link:
        (local,) = link.rows("* FROM system.local WHERE key = 'local'")
        peers = _peers(link)
    host, port = host_and_port(seed.address)
    places = {str(row.get("data_center")) for row in (local, *peers)}
    machines = [
        _machine(row, own_host, port, several=len(places) > 1)
        for row, own_host in ((local, host), *((row, "") for row in peers))
    ]
    ordered = sorted(machines, key=lambda one: one.address)
    return counted(str(local.get("cluster_name") or "cassandra"), seed.address, ordered)


def _peers(link: Link) -> Sequence[Row]:
    """Return the rows of its peers; versions before 4 know only the older table."""
    try:
        return link.rows("* FROM system.peers_v2")
    except CommandFailed as error:
        if not error.unknown_table:
            raise
        return link.rows("* FROM system.peers")


def _machine(row: Row, own_host: str, port: int, several: bool) -> Machine:
    """Return one node; `own_host` is where the asked one answered us."""
    named = [str(row.get(name) or "") for name in ("native_address", "rpc_address", "peer")]
    host = own_host or next((name for name in named if name not in _ANY), "")
    rack, place = str(row.get("rack") or ""), str(row.get("data_center") or "")
    return Machine(
        "",
        host,
        database_port=int(row.get("native_port") or port),
        rack=f"{place}-{rack}" if several else rack,
    )
