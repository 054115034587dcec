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
from brownout.databases.cassandra.options import CassandraOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Operator, Server, if_secure, later

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
    reading=reading,
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
    census=later("brownout.databases.cassandra.census:census"),
    server=Server(
        program="cassandra",
        service="cassandra",
        clients=("cqlsh", "nodetool"),
        port=9042,
        config_file="/etc/cassandra/cassandra.yaml",
        images=(
            Image(
                words=("scylla", "scylladb"),
                process="scylla",
                config_file="/etc/scylla/scylla.yaml",
            ),
            Image(
                words=("cassandra",),
                marks=("bitnami",),
                process="java",
                config_file="/opt/bitnami/cassandra/conf/cassandra.yaml",
            ),
            Image(
                words=("dse", "hcd"),
                marks=("cassandra_conf=/config", "use_mgmt_api", "mgmt"),
                process="java",
                config_file="/config/cassandra.yaml",
            ),
            Image(
                words=("dse",),
                process="java",
                config_file="/opt/dse/resources/cassandra/conf/cassandra.yaml",
            ),
            Image(
                words=("hcd",),
                process="java",
                config_file="/opt/hcd/resources/cassandra/conf/cassandra.yaml",
            ),
            Image(  # of cass-operator, with the Management API
                words=("cassandra", "cass"),
                marks=("use_mgmt_api", "management", "mgmt"),
                process="java",
                config_file="/config/cassandra.yaml",
            ),
            Image(
                words=("cassandra",),
                process="java",
                config_file="/etc/cassandra/cassandra.yaml",
            ),
        ),
        programs=("scylla", "dse"),
        beside_words=("medusa", "reaper", "stargate"),
    ),
    operators=(
        Operator(
            kind="cassandradatacenter",
            short=("cassdc",),
            path="cassandradatacenters",
            group="/apis/cassandra.datastax.com/v1beta1",
            rack_label="cassandra.datastax.com/rack",
        ),
        Operator(
            kind="scyllacluster",
            path="scyllaclusters",
            group="/apis/scylla.scylladb.com/v1",
            rack_label="scylla/rack",
        ),
    ),
)
