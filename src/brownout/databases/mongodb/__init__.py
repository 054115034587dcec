"""MongoDB: replica sets, and sharded clusters, which are several of them.

`adapter` joins the parts: `access` (how drivers connect), `link` (one member's connection),
`view` (what one member says of itself), `milestones` and `choice` (judging those, pure),
`storage` (where a member keeps its data), `membership` (the set's next configuration, pure) and
`configuration` (giving it that), which `resize` and `adjustments` do. `sharded_cluster` has one of
these for each shard (`shards`); `adapters` says which of both a cluster has. `options` is what a
workload may say, `lab` makes clusters of processes here.
"""

from collections.abc import Mapping
from typing import Any

from brownout.databases.mongodb.grants import GRANTS
from brownout.databases.mongodb.lab.settings import AtlasLab, ReplicaSetLab, ShardedLab
from brownout.databases.mongodb.options import MongoOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Operator, Server, if_secure, later

__all__ = ["MONGODB"]


# Inventories are read with this, so what takes time to import is imported when it is called.


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
    canary="mongodb.py",
    options=MongoOptions,
    reading=reading,
    most_bytes=16 * 2**20,  # a document
    check_target=later("brownout.databases.mongodb.choice:TARGETS.check"),
    labs={
        "mongodb": LabKind(
            settings=ReplicaSetLab,
            engine=f"{_LAB}.replica_set",
            packages=if_secure(),
        ),
        "sharded": LabKind(
            settings=ShardedLab,
            engine=f"{_LAB}.sharded_cluster",
            programs={
                "router": later("brownout.databases.mongodb.lab.router_stand_in:find_router")
            },
            stop=later("brownout.databases.mongodb.lab.router_stand_in:stop"),
        ),
        "atlas": LabKind(
            settings=AtlasLab,
            engine=f"{_LAB}.atlas",
            packages=_atlas,
            stop=later("brownout.databases.mongodb.lab.atlas_api.process:stop"),
            # the files that `atlas_api.process` writes
            login={"client_id": {"file": "atlas/id"}, "client_secret": {"file": "atlas/secret"}},
        ),
    },
    open_request=b"\x34\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00\x00\x00\x00\x00\x00"
    b"\x1f\x00\x00\x00\x10hello\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00",
    grants=GRANTS,
    lab_server=later("brownout.databases.mongodb.lab.mongod:find_mongod"),
    census=later("brownout.databases.mongodb.census:census"),
    server=Server(
        program="mongod",
        service="mongod",
        clients=("mongo", "mongosh", "mongoimport", "mongorestore"),
        port=27017,
        other_ports=(27018,),
        config_file="/etc/mongod.conf",
        images=(
            Image(
                words=("mongodb", "mongo"),
                marks=("bitnami",),
                process="mongod",
                options={"--dbpath": "/bitnami/mongodb/data/db"},
                variables={"MONGODB_DATA_DIR": "--dbpath"},
            ),
            Image(
                words=("mongodb",),
                marks=("mongodb-enterprise-database", "mongodb-agent", "automation-mongod"),
                process="mongod",
                config_file="/data/automation-mongod.conf",
            ),
            Image(
                words=("mongo", "mongodb", "mongod", "psmdb"),
                process="mongod",
                options={"--dbpath": "/data/db"},
            ),
        ),
        own_options=("--dbpath",),
        shared_options={"--replSet": "replica_set"},
        beside_words=("mongos", "mms", "pbm"),
        shard_words=("shardsvr",),
        router_words=("mongos", "router"),
        aside_words=("cfg", "config", "mongoc"),
        aside_marks=("configsvr",),
        named_by={
            "replica_set": (
                *(
                    "mongodb_replication_replset",
                    "mongodb_replica_set",
                    "mongodb_replica_set_name",
                    "mongodb_replset",
                    "mongodb_replset_name",
                ),
                *("replica_set", "replica_set_name", "replset", "repl_set_name"),
            )
        },
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
        Operator(
            kind="perconaservermongodb",
            short=("psmdb",),
            path="perconaservermongodbs",
            group="/apis/psmdb.percona.com/v1",
        ),
        Operator(kind="mongodb", path="mongodb", group="/apis/mongodb.com/v1"),
    ),
)
