"""etcd: clusters of members that elect a leader.

`adapter` joins the parts: `link` (one member's JSON gateway), `view` (what one member says of
itself), `milestones` and `choice` (judging those, pure), `settings` and `storage` (a member's own
configuration, and where it keeps its data), `readmission` (taking a member that lost its data for a
new one). `options` is what a workload may say, `lab` makes clusters of processes here.
"""

from brownout.databases.etcd.grants import GRANTS
from brownout.databases.etcd.lab.settings import EtcdLab
from brownout.databases.etcd.options import EtcdOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Server, if_secure, later

__all__ = ["ETCD"]

#: The variables that are options of its command, too.
_VARIABLES = {
    "ETCD_DATA_DIR": "--data-dir",
    "ETCD_WAL_DIR": "--wal-dir",
    "ETCD_INITIAL_ADVERTISE_PEER_URLS": "--initial-advertise-peer-urls",
    "ETCD_INITIAL_CLUSTER_STATE": "--initial-cluster-state",
}

ETCD = Database(
    name="etcd",
    title="etcd",
    driver="etcd",
    adapter="brownout.databases.etcd.adapter:EtcdAdapter",
    options=EtcdOptions,
    reading=reading,
    most_bytes=1536 * 2**10 - 4096,  # `max-request-bytes` as a server comes, less what is around it
    check_target=later("brownout.databases.etcd.choice:TARGETS.check"),
    labs={
        "etcd": LabKind(
            settings=EtcdLab,
            engine="brownout.databases.etcd.lab.cluster",
            packages=if_secure(),
        )
    },
    open_request=b"GET /version HTTP/1.1\r\nHost: etcd\r\n\r\n",
    grants=GRANTS,
    lab_server=later("brownout.databases.etcd.lab.server:find_etcd"),
    census=later("brownout.databases.etcd.census:census"),
    server=Server(
        program="etcd",
        service="etcd",
        clients=("etcdctl",),
        port=2379,
        config_file="/etc/default/etcd",
        images=(
            Image(
                words=("etcd",),
                marks=("bitnami",),
                process="etcd",
                options={"--data-dir": "/bitnami/etcd/data"},
                variables=_VARIABLES,
            ),
            Image(words=("etcd",), process="etcd", variables=_VARIABLES),
        ),
        own_options=(
            "--data-dir",
            "--wal-dir",
            "--initial-advertise-peer-urls",
            "--initial-cluster-state",
        ),
    ),
)
