"""A PostgreSQL cluster on loopback: where its members live, and waiting until they are one."""

import secrets
from pathlib import Path

from pydantic import SecretStr

from brownout.base.errors import ClusterError
from brownout.databases.lab import file_systems, network, tls
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.postgresql.adapter import PostgresqlAdapter
from brownout.databases.postgresql.lab import release, store
from brownout.databases.postgresql.lab.server import (
    Ports,
    configuration,
    find_patroni,
    find_postgres,
)
from brownout.databases.postgresql.lab.settings import PostgresqlLab
from brownout.inventory.connection import Auth, Connection, Tls
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import user_namespace

__all__ = ["await_whole", "form", "lay_out"]

#: Generous: 10 s are usual; a member that was killed may first wait for its lease to end.
_WHOLE_TIMEOUT_S = 240.0
_FILE = "patroni.yml"


def lay_out(cluster: Cluster, spec: PostgresqlLab, directory: Path) -> Cluster:
    """Write each member's directories and configuration; return the cluster with all of them."""
    patroni = release.command(spec.patroni) if spec.patroni else find_patroni()
    find_postgres(spec.secure)
    if reason := user_namespace.why_not():
        raise ClusterError(
            f"PostgreSQL refuses root, and root cannot start it as another user here: {reason}",
            "run brownout as an ordinary user",
        )
    numbers = range(1, spec.members + 1)
    places = network.places(directory, [f"n{n}" for n in numbers], spec.network_namespaces)
    where = store.lay_out(directory, cluster.name, network.gateway(places["n1"]))
    free = reserve_ports(2 * spec.members, directory)
    ports = {n: Ports(places[f"n{n}"], *free[2 * n - 2 : 2 * n]) for n in numbers}
    password = secrets.token_urlsafe(24) if spec.secure else ""
    own = cluster.connection
    connection = Connection(options=own.options, timeout_s=own.timeout_s)
    if spec.secure:
        names = {name: place.address for name, place in places.items()}
        certificates = tls.issue(directory, cluster.name, names, extra="lab-postgresql")
        tls.keep(directory / "tls" / "password", password.encode())
        trusted = Tls(ca_file=certificates.ca_file)  # clients log in by password
        auth = Auth(username="postgres", password=SecretStr(password))
        connection = connection.model_copy(update={"tls": trusted, "auth": auth})
    data = file_systems.places(directory, [f"n{number}" for number in ports], spec)
    nodes = []
    for number, at in ports.items():
        home = directory / f"n{number}"
        own_data = data[home.name]
        text = configuration(spec, cluster.name, number, at, where, home, own_data, password)
        tls.keep(home / _FILE, text.encode())
        nodes.append(_node(number, at, home, own_data, patroni, spec))
    update = {"nodes": tuple(nodes), "spares": (), "connection": connection, "lab": spec}
    update["coordination"] = (where,)
    return cluster.model_copy(update=update)


def form(cluster: Cluster, spec: PostgresqlLab, progress: Progress) -> None:
    """Wait until one member has made the database and the others have copied it."""
    progress("waiting for a primary and its replicas")
    with PostgresqlAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every member is back with all its data."""
    progress("waiting for every member")
    with PostgresqlAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _node(
    number: int,
    at: Ports,
    home: Path,
    data: Path,
    patroni: tuple[str, ...],
    spec: PostgresqlLab,
) -> Node:
    host = ProcessSpec(
        config_file=home / _FILE,
        pid_file=home / "patroni.pid",
        log_file=home / "patroni.log",
        working_directory=home,
        server_directory=data,
        network_namespace=at.place.namespace,
        unprivileged=True,
        command=(*patroni, str(home / _FILE)),
    )
    rack = f"r{spec.rack_of(number)}" if spec.racks else ""
    address, api = f"{at.place.address}:{at.server}", f"{at.place.address}:{at.api}"
    return Node(name=f"n{number}", address=address, api=api, host=host, rack=rack)
