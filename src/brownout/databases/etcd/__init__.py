"""etcd: clusters of members that elect a leader.

`adapter` joins the parts: `link` (one member's JSON gateway), `view` (what one member says of
itself), `milestones` and `choice` (judging those, pure), `settings` and `storage` (a member's own
configuration, and where it keeps its data), `readmission` (taking a member that lost its data for a
new one). `options` is what a workload may say, `lab` makes clusters of processes here.
"""

from pathlib import Path

from brownout.databases.etcd.grants import GRANTS
from brownout.databases.etcd.lab.settings import EtcdLab
from brownout.databases.etcd.options import EtcdOptions
from brownout.inventory.database import Database, LabKind, Server
from brownout.inventory.model import Cluster

__all__ = ["ETCD"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _check_target(select: str, cluster: Cluster) -> None:
    from brownout.databases.etcd.choice import TARGETS

    TARGETS.check(select, cluster)


def _find_etcd() -> Path:
    from brownout.databases.etcd.lab.server import find_etcd

    return find_etcd()


def _secure(spec: EtcdLab) -> dict[str, tuple[str, str]]:
    return {"a secure lab": ("cryptography", "lab")} if spec.secure else {}


ETCD = Database(
    name="etcd",
    title="etcd",
    driver="etcd",
    adapter="brownout.databases.etcd.adapter:EtcdAdapter",
    options=EtcdOptions,
    most_bytes=1536 * 2**10 - 4096,  # `max-request-bytes` as a server comes, less what is around it
    check_target=_check_target,
    labs={
        "etcd": LabKind(
            settings=EtcdLab,
            engine="brownout.databases.etcd.lab.cluster",
            packages=_secure,
        )
    },
    grants=GRANTS,
    lab_server=_find_etcd,
    server=Server(
        program="etcd",
        service="etcd",
        port=2379,
        config_file="/etc/default/etcd",
        images=("etcd",),
        own_options=(
            "--data-dir",
            "--wal-dir",
            "--initial-advertise-peer-urls",
            "--initial-cluster-state",
        ),
    ),
)
