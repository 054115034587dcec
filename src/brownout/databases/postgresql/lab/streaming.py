"""A PostgreSQL on this machine that nothing supervises: a primary, and standbys that stream.

The members begin as copies of one new database. Each knows all of them (`primary_conninfo` with
`target_session_attrs`), so that a standby follows whichever one is primary.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from brownout.base.errors import ClusterError
from brownout.databases.lab import file_systems, network
from brownout.databases.lab.engine import Progress
from brownout.databases.lab.milestones import await_milestone
from brownout.databases.lab.network import block_of
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.postgresql.lab.server import Ports, find_postgres
from brownout.databases.postgresql.lab.settings import StreamingLab
from brownout.databases.postgresql.streaming import STANDBY, StreamingAdapter
from brownout.inventory import labs
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.inventory.streaming import StreamingSpec
from brownout.machine import user_namespace

__all__ = ["await_whole", "form", "lay_out"]

_WHOLE_TIMEOUT_S = 120.0
_FILE, _LOGINS = "postgresql.conf", "pg_hba.conf"
_SETTINGS = {
    "unix_socket_directories": "",  # its path may be longer than a socket's may be
    "max_connections": "120",
    "shared_buffers": "32MB",
    "wal_level": "replica",
    "max_wal_senders": "10",
    "wal_keep_size": "128MB",
    "wal_log_hints": "on",
    "wal_retrieve_retry_interval": "500ms",
}


def lay_out(cluster: Cluster, spec: StreamingLab, directory: Path) -> Cluster:
    """Make one database and copy it for each member; return the cluster with all of them."""
    programs = find_postgres()
    if reason := user_namespace.why_not():
        raise ClusterError(
            f"PostgreSQL refuses root, and root cannot start it as another user here: {reason}",
            "run brownout as an ordinary user",
        )
    names = [f"n{number}" for number in range(1, spec.members + 1)]
    places = network.places(directory, names, spec.network_namespaces)
    free = reserve_ports(spec.members, directory)
    data = file_systems.places(directory, names, spec)
    ports = {name: Ports(places[name], port, 0) for name, port in zip(names, free, strict=True)}
    first, *standbys = names
    _initialize(programs, data[first])
    for name in standbys:
        shutil.copytree(data[first], data[name], dirs_exist_ok=True)
        (data[name] / STANDBY).touch()
    nodes = []
    for number, (name, at) in enumerate(ports.items(), 1):
        home = directory / name
        (home / _FILE).write_text(_configuration(name, ports, home, data[name]), encoding="utf-8")
        (home / _LOGINS).write_text(_logins(at), encoding="utf-8")
        rack = f"r{spec.rack_of(number)}" if spec.racks else ""
        nodes.append(_node(name, at, home, data[name], programs, rack))
    own = cluster.connection
    connection = Connection(options=own.options, timeout_s=own.timeout_s)
    update = {"nodes": tuple(nodes), "spares": (), "connection": connection, "lab": spec}
    return cluster.model_copy(update={**update, "streaming": _commands(directory)})


def form(cluster: Cluster, spec: StreamingLab, progress: Progress) -> None:
    """Wait until every standby streams from the primary."""
    await_whole(cluster, progress)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until every member is back with all its data."""
    progress("waiting for a primary and its standbys")
    with StreamingAdapter(cluster) as adapter:
        await_milestone(adapter, "whole", _WHOLE_TIMEOUT_S)


def _initialize(programs: Path, data: Path) -> None:
    command = [*user_namespace.enter(), str(programs / "initdb"), "-D", str(data)]
    command += ["-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "--data-checksums"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"`initdb` failed: {' '.join(done.stderr.split())[-300:]}")


def _configuration(name: str, ports: Mapping[str, Ports], home: Path, data: Path) -> str:
    """Return the postgresql.conf of a member; it is not in its data, which others may overwrite."""
    others = [at for other, at in ports.items() if other != name]
    upstream = {
        "host": ",".join(at.place.address for at in others),
        "port": ",".join(str(at.server) for at in others),
        "user": "postgres",
        "application_name": name,
        "target_session_attrs": "read-write",
        "connect_timeout": "2",
    }
    settings = {
        **_SETTINGS,
        "data_directory": str(data),
        "hba_file": str(home / _LOGINS),
        "listen_addresses": ports[name].place.address,
        "port": str(ports[name].server),
        "primary_conninfo": " ".join(f"{key}={value}" for key, value in upstream.items()),
    }
    return "".join(f"{key} = '{value}'\n" for key, value in settings.items())


def _logins(at: Ports) -> str:
    block = block_of(at.place)
    return f"host all all {block} trust\nhost replication all {block} trust\n"


def _commands(directory: Path) -> StreamingSpec:
    """Return what moves the primary of the lab: `commands`, as people have scripts for it."""
    module = "brownout.databases.postgresql.lab.commands"
    start = (sys.executable, "-P", "-m", module, str(directory / labs.INVENTORY))
    return StreamingSpec(
        promote=(*start, "promote", "{node}"),
        switchover=(*start, "switchover", "{node}", "{primary}"),
        rejoin=(*start, "rejoin", "{node}", "{primary}"),
    )


def _node(name: str, at: Ports, home: Path, data: Path, programs: Path, rack: str) -> Node:
    config = home / _FILE
    host = ProcessSpec(
        config_file=config,
        pid_file=home / "postgres.pid",
        log_file=home / "postgres.log",
        working_directory=home,
        server_directory=data,
        network_namespace=at.place.namespace,
        unprivileged=True,
        stop_signal="SIGINT",
        command=(str(programs / "postgres"), "-D", str(data), "-c", f"config_file={config}"),
    )
    return Node(name=name, address=f"{at.place.address}:{at.server}", host=host, rack=rack)
