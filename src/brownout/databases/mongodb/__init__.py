"""MongoDB: replica sets, and sharded clusters, which are several of them.

`adapter` joins the parts: `access` (how drivers connect), `link` (one member's connection),
`view` (what one member says of itself), `milestones` and `choice` (judging those, pure),
`storage` (where a member keeps its data), `membership` (the set's next configuration, pure) and
`configuration` (giving it that), which `resize` and `adjustments` do. `sharded_cluster` has one of
these for each shard (`shards`); `adapters` says which of both a cluster has. `options` is what a
workload may say, `lab` makes clusters of processes here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.databases.mongodb.grants import GRANTS
from brownout.databases.mongodb.lab.settings import AtlasLab, ReplicaSetLab, ShardedLab
from brownout.databases.mongodb.options import MongoOptions
from brownout.inventory.database import Database, LabKind, Operator, Server
from brownout.inventory.model import Cluster

__all__ = ["MONGODB"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _check_target(select: str, cluster: Cluster) -> None:
    from brownout.databases.mongodb.choice import TARGETS

    TARGETS.check(select, cluster)


def _find_mongod() -> Path:
    from brownout.databases.mongodb.lab.mongod import find_mongod

    return find_mongod()


def _find_router() -> Path:
    from brownout.databases.mongodb.lab.router_stand_in import find_router

    return find_router()


def _stop_router(directory: Path) -> None:
    from brownout.databases.mongodb.lab import router_stand_in

    router_stand_in.stop(directory)


def _stop_api(directory: Path) -> None:
    from brownout.databases.mongodb.lab.atlas_api import process

    process.stop(directory)


def _secure(spec: ReplicaSetLab) -> dict[str, tuple[str, str]]:
    return {"a secure lab": ("cryptography", "lab")} if spec.secure else {}


def _atlas(_: AtlasLab) -> dict[str, tuple[str, str]]:
    return {"atlas": ("brownout.atlas.client", "atlas")}


def _of_resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Its operator names the replica set after the resource."""
    return {"replica_set": resource["metadata"]["name"]}


_LAB = "brownout.databases.mongodb.lab"

MONGODB = Database(
    name="mongodb",
    title="MongoDB",
    driver="mongodb",
    extra="mongodb",
    adapter="brownout.databases.mongodb.adapters:mongodb_adapter",
    canary="brownout.databases.mongodb.canary:MongoCanary",
    options=MongoOptions,
    most_bytes=16 * 2**20,  # a document
    check_target=_check_target,
    labs={
        "mongodb": LabKind(
            settings=ReplicaSetLab,
            engine=f"{_LAB}.replica_set",
            packages=_secure,
        ),
        "sharded": LabKind(
            settings=ShardedLab,
            engine=f"{_LAB}.sharded_cluster",
            programs={"router": _find_router},
            stop=_stop_router,
        ),
        "atlas": LabKind(
            settings=AtlasLab,
            engine=f"{_LAB}.atlas",
            packages=_atlas,
            stop=_stop_api,
            # the files that `atlas_api.process` writes
            login={"client_id": {"file": "atlas/id"}, "client_secret": {"file": "atlas/secret"}},
        ),
    },
    grants=GRANTS,
    lab_server=_find_mongod,
    server=Server(
        program="mongod",
        service="mongod",
        port=27017,
        config_file="/etc/mongod.conf",
        images=("mongo",),
        own_options=("--dbpath",),
        shared_options={"--replSet": "replica_set"},
        hints=("# replica_set: …       # as its own configuration",),
    ),
    operators=(
        Operator(
            kind="mongodbcommunity",
            short=("mdbc",),
            path="mongodbcommunity",
            group="/apis/mongodbcommunity.mongodb.com/v1",
            connection=_of_resource,
        ),
    ),
)
