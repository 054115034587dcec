"""What people have scripts for, of a lab that nothing supervises: `streaming` of its inventory.

python -m brownout.databases.postgresql.lab.commands INVENTORY promote NODE
python -m brownout.databases.postgresql.lab.commands INVENTORY switchover NODE PRIMARY
python -m brownout.databases.postgresql.lab.commands INVENTORY rejoin NODE PRIMARY
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import BrownoutError, ClusterError
from brownout.base.settings import host_and_port
from brownout.databases.postgresql.access import access
from brownout.databases.postgresql.candidate import PostgresqlCandidate
from brownout.databases.postgresql.lab.server import find_postgres
from brownout.databases.postgresql.streaming import STANDBY
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine import user_namespace
from brownout.machine.host import host_for

__all__ = ["promote", "rejoin", "switchover"]

_PROMOTES_WITHIN_S = 60


def promote(cluster: Cluster, node: Node) -> None:
    """Make a standby the primary: it replays what it has received, and begins a timeline."""
    candidate = PostgresqlCandidate(node, access(cluster), 2.0 * _PROMOTES_WITHIN_S)
    if candidate.answer(f"SELECT pg_promote(true, {_PROMOTES_WITHIN_S})") != "t":
        raise ClusterError(f"`{node.name}` was not promoted within {_PROMOTES_WITHIN_S} s")


def switchover(cluster: Cluster, node: Node, primary: Node) -> None:
    """Stop the primary in order, promote a standby, and start the old one as a standby.

    An orderly stop sends all WAL to the standbys before it ends, so nothing has to be rewound.
    """
    host = host_for(primary)
    host.stop("clean")
    try:
        promote(cluster, node)
    except BrownoutError:
        host.start()
        raise
    (_data(primary) / STANDBY).touch()
    host.start()


def rejoin(cluster: Cluster, node: Node, primary: Node) -> None:
    """Make a stopped member a standby: rewound to where the timelines part, or copied anew."""
    data, (host, port) = _data(node), host_and_port(primary.address)
    source = f"host={host} port={port} user=postgres dbname=postgres"
    if (data / "PG_VERSION").is_file():
        _run("pg_rewind", "--target-pgdata", str(data), "--source-server", source)
    else:
        _run("pg_basebackup", "-D", str(data), "-d", source, "--checkpoint=fast")
    (data / STANDBY).touch()


def _data(node: Node) -> Path:
    assert isinstance(node.host, ProcessSpec)
    assert node.host.server_directory is not None
    return node.host.server_directory


def _run(program: str, *arguments: str) -> None:
    command = [*user_namespace.enter(), str(find_postgres() / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"`{program}` failed: {' '.join(done.stderr.split())[-300:]}")


def _main(file: str, what: str, *names: str) -> None:
    cluster = inventory.declared(Path(file))
    commands: dict[str, Callable[..., None]] = {
        "promote": promote,
        "rejoin": rejoin,
        "switchover": switchover,
    }
    commands[what](cluster, *map(cluster.node, names))


if __name__ == "__main__":
    try:
        _main(*sys.argv[1:])
    except BrownoutError as error:
        raise SystemExit(str(error)) from error
