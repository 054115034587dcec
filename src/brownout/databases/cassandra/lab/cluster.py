"""A cluster of Cassandra on this machine: files, first login, and waiting until it is whole."""

import secrets
from pathlib import Path

from pydantic import SecretStr

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.access import by_password
from brownout.databases.cassandra.adapter import CassandraAdapter
from brownout.databases.cassandra.lab import configuration, server
from brownout.databases.cassandra.lab.configuration import USER, Place
from brownout.databases.cassandra.lab.settings import CassandraLab
from brownout.databases.cassandra.link import LOGIN, Link
from brownout.databases.lab import file_systems, network, tls
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.connection import Auth, Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: three JVMs that start together can take minutes on a busy machine.
_WHOLE_TIMEOUT_S = 600.0
_DONE_WITHIN_S = 120.0
_POLL_S = 0.5
_YAML, _ARGUMENTS = "cassandra.yaml", "jvm.args"
_DAEMON = "org.apache.cassandra.service.CassandraDaemon"
#: Name and password of the role that a new cluster has.
_FIRST = "cassandra"


def lay_out(cluster: Cluster, spec: CassandraLab, directory: Path) -> Cluster:
    """Write each node's directories and configuration; return the cluster with all of them."""
    java, jars = server.find_java(), server.jars()
    names = [f"n{number}" for number in range(1, spec.members + 1)]
    homes = network.places(directory, names, spec.network_namespaces)
    free = reserve_ports(3 * spec.members, directory)
    places = {
        number: Place(
            at.address if spec.network_namespaces else f"127.0.0.{number}",
            *free[3 * number - 3 : 3 * number],
        )
        for number, at in enumerate(homes.values(), 1)
    }
    own = cluster.connection
    connection = Connection(options=own.options, timeout_s=own.timeout_s)
    if spec.secure:
        hosts = {f"n{number}": at.host for number, at in places.items()}
        certificates, password = tls.issue(directory, cluster.name, hosts), secrets.token_hex(16)
        tls.keep(directory / "tls" / "password", password.encode())
        auth = Auth(username=USER, password=SecretStr(password))
        connection = connection.model_copy(update={"tls": certificates, "auth": auth})
    data = file_systems.places(directory, names, spec)
    nodes = []
    for number, at in places.items():
        home = directory / f"n{number}"
        for kind in ("data", "commitlog", "hints", "saved_caches"):
            (data[home.name] / kind).mkdir(mode=0o700)
        (home / "rackdc.properties").write_text(configuration.rack(spec, number), encoding="utf-8")
        (home / "logback.xml").write_text(configuration.logging(), encoding="utf-8")
        for formed, ends in ((False, ""), (True, ".formed")):
            text = configuration.cassandra_yaml(
                spec, cluster.name, number, places, home, data[home.name], formed
            )
            (home / f"{_YAML}{ends}").write_text(text, encoding="utf-8")
            text = configuration.jvm_arguments(spec, at, home, data[home.name], jars, formed)
            (home / f"{_ARGUMENTS}{ends}").write_text(text, encoding="utf-8")
        nodes.append(_node(number, at, homes[home.name].namespace, home, java, spec))
    update = {"nodes": tuple(nodes), "spares": (), "connection": connection, "lab": spec}
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: CassandraLab, progress: Progress) -> None:
    """Wait until the nodes have formed a cluster; then give them the files of a formed one.

    With these a node that lost its data replaces itself.
    """
    if spec.secure:
        _make_role(cluster, progress)
    await_whole(cluster, progress)
    for node in cluster.nodes:
        if isinstance(node.host, ProcessSpec) and node.host.config_file:
            for name in (_YAML, _ARGUMENTS):
                (node.host.config_file.parent / f"{name}.formed").replace(
                    node.host.config_file.parent / name
                )


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every node is back with all its data."""
    progress(f"waiting for {len(cluster.nodes)} nodes")
    with CassandraAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _make_role(cluster: Cluster, progress: Progress) -> None:
    """Replicate the roles to every node, create the lab's own role, and drop the default one."""
    own = cluster.connection.auth
    assert own is not None
    assert own.password is not None
    progress("waiting for the first login")
    first = _as(cluster, _FIRST)
    with CassandraAdapter(first) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)
    progress(f"making the role {USER}")
    _do(
        first,
        "ALTER KEYSPACE system_auth WITH replication = "
        f"{{'class': 'NetworkTopologyStrategy', 'dc1': {len(cluster.nodes)}}}",
        f"CREATE ROLE IF NOT EXISTS {USER} WITH LOGIN = true AND SUPERUSER = true "
        f"AND PASSWORD = '{own.password.get_secret_value()}'",
    )
    _do(cluster, f"DROP ROLE IF EXISTS {_FIRST}")


def _do(cluster: Cluster, *statements: str) -> None:
    """Execute idempotent statements, again until each has succeeded."""
    link = Link(cluster.nodes[0], by_password(cluster, LOGIN), cluster.connection.timeout_s)

    def each() -> bool:
        for statement in statements:
            link.change(statement)
        return True

    try:
        wait_until(each, _DONE_WITHIN_S, _POLL_S, despite=ClusterError)
    finally:
        link.close()


def _as(cluster: Cluster, name: str) -> Cluster:
    auth = Auth(username=name, password=SecretStr(name))
    connection = cluster.connection.model_copy(update={"auth": auth})
    return cluster.model_copy(update={"connection": connection})


def _node(
    number: int, at: Place, namespace: str, home: Path, java: Path, spec: CassandraLab
) -> Node:
    host = ProcessSpec(
        config_file=home / _YAML,
        pid_file=home / "cassandra.pid",
        log_file=home / "cassandra.log",
        working_directory=home,
        # Cassandra ignores the last word, by which the process is known as this node's.
        command=(
            *(str(java), f"@{server.arguments()}", f"@{home / _ARGUMENTS}"),
            *(_DAEMON, str(home / _YAML)),
        ),
        network_namespace=namespace,
    )
    rack = f"r{spec.rack_of(number)}" if spec.racks else ""
    return Node(name=f"n{number}", address=at.address, host=host, rack=rack)
