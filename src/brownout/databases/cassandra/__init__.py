"""Apache Cassandra, and DataStax Enterprise, which speaks the same protocol. All nodes are equal.

`adapter` joins the parts: `link` (one node's native protocol),
`view` (what one node says of itself and has heard of others), `milestones` and `copies` (pure
functions that judge views), `choice` (targets), `settings` (a node's own configuration) and
`storage` (where it keeps data, and whether it comes back without). `options` are the driver's
settings, `lab` makes clusters of local processes.
"""

from collections.abc import Callable

from brownout.databases.cassandra.grants import GRANTS
from brownout.databases.cassandra.lab.settings import CassandraLab
from brownout.databases.cassandra.options import CassandraOptions
from brownout.inventory.database import Database, LabKind, Server, if_secure, later

__all__ = ["CASSANDRA"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _fetch(_: CassandraLab, progress: Callable[[str], None]) -> None:
    from brownout.databases.cassandra.lab.server import fetch

    fetch(progress)


CASSANDRA = Database(
    name="cassandra",
    title="Cassandra",
    driver="cassandra",
    adapter="brownout.databases.cassandra.adapter:CassandraAdapter",
    options=CassandraOptions,
    most_bytes=16 * 2**20 - 65_536,  # half a segment of the commit log, less what is around a value
    check_target=later("brownout.databases.cassandra.choice:check"),
    labs={
        "cassandra": LabKind(
            settings=CassandraLab,
            engine="brownout.databases.cassandra.lab.cluster",
            packages=if_secure(),
            fetch=_fetch,
        )
    },
    open_request=b"\x04\x00\x00\x00\x05\x00\x00\x00\x00",  # OPTIONS
    grants=GRANTS,
    lab_server=later("brownout.databases.cassandra.lab.server:find_server"),
    server=Server(
        program="cassandra",
        service="cassandra",
        port=9042,
        process="java",
        config_file="/etc/cassandra/cassandra.yaml",
        images=("dse-server",),
        contained="/etc/cassandra/cassandra.yaml",
    ),
)
