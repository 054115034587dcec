"""Redis: a cluster of shards, each of a master and its replicas, or one master under Sentinel.

`adapters` chooses between `adapter`, that of Redis Cluster, and that of `sentinel`, where sentinels
promote a replica; `members` is what both ask. `adapter` joins the parts: `link` (one node, by
redis-py), `view` (what one node says of itself), `milestones` and `choice` (judging those, pure),
`settings` and `storage` (a node's own configuration, and where it keeps its data), `rejoin` (what a
node without data would do to others, and introducing it to them). `options` is what a workload may
say, `lab` makes clusters of processes here.
"""

from brownout.databases.redis.grants import GRANTS
from brownout.databases.redis.lab.settings import RedisLab, SentinelLab
from brownout.databases.redis.options import RedisOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Operator, Server, if_secure, later

__all__ = ["REDIS"]

_ALONE = (
    "this chart makes one primary with replicas, which is not Redis Cluster; brownout needs its "
    "sentinels under `sentinel` (docs/redis.md#sentinel), or Redis Cluster, as redis-cluster and "
    "valkey-cluster make it"
)

REDIS = Database(
    name="redis",
    title="Redis Cluster",
    driver="redis",
    adapter="brownout.databases.redis.adapters:redis_adapter",
    extra="redis",
    canary="redis_cluster.py",
    options=RedisOptions,
    reading=reading,
    most_bytes=512 * 2**20 - 4096,  # `proto-max-bulk-len` as a server comes, less what is around it
    check_target=later("brownout.databases.redis.choice:TARGETS.check"),
    labs={
        "redis": LabKind(
            settings=RedisLab,
            engine="brownout.databases.redis.lab.cluster",
            packages=if_secure(),
        ),
        "redis-sentinel": LabKind(
            settings=SentinelLab,
            engine="brownout.databases.redis.lab.sentinel",
            start=later("brownout.databases.redis.lab.sentinel:start"),
            stop=later("brownout.databases.redis.lab.sentinel:stop"),
        ),
    },
    sentinels=True,
    open_request=b"INFO\r\n",
    grants=GRANTS,
    lab_server=later("brownout.databases.redis.lab.server:find_redis"),
    census=later("brownout.databases.redis.census:census"),
    server=Server(
        program="redis-server",
        service="redis-server",
        clients=("redis-cli", "valkey-cli"),
        port=6379,
        other_ports=(26379,),
        config_file="/etc/redis/redis.conf",
        images=(
            Image(
                words=("valkey",),
                marks=("bitnami/valkey-cluster", "/opt/bitnami/scripts/valkey-cluster"),
                process="valkey-server",
                options={"--dir": "/bitnami/valkey/data"},
                variables={"VALKEY_DATA_DIR": "--dir"},
            ),
            Image(
                words=("valkey",),
                marks=("bitnami",),
                process="valkey-server",
                options={"--dir": "/data"},
                variables={"VALKEY_DATA_DIR": "--dir"},
                note=_ALONE,
            ),
            Image(words=("valkey",), process="valkey-server", options={"--dir": "/data"}),
            Image(
                words=("redis",),
                marks=("bitnami/redis-cluster", "/opt/bitnami/scripts/redis-cluster"),
                process="redis-server",
                options={"--dir": "/bitnami/redis/data"},
                variables={"REDIS_DATA_DIR": "--dir"},
            ),
            Image(
                words=("redis",),
                marks=("bitnami",),
                process="redis-server",
                options={"--dir": "/data"},
                variables={"REDIS_DATA_DIR": "--dir"},
                note=_ALONE,
            ),
            Image(
                words=("redis",),
                marks=("/node-conf",),
                process="redis-server",
                options={"--dir": "/data", "--cluster-config-file": "/node-conf/nodes.conf"},
                note="its nodes.conf lies in /node-conf, which a wipe of its data leaves alone",
            ),
            Image(words=("redis",), process="redis-server", options={"--dir": "/data"}),
        ),
        programs=("valkey-server",),
        beside_words=("sentinel", "redisinsight"),
        own_options=("--dir", "--cluster-config-file", "--appenddirname", "--dbfilename"),
    ),
    operators=(
        Operator(
            kind="rediscluster",
            path="redisclusters",
            group="/apis/redis.redis.opstreelabs.in/v1beta2",
        ),
    ),
)
