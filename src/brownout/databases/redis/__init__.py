"""Redis Cluster: shards of a master and its replicas, which have 16384 slots among them.

`adapter` joins the parts: `link` (one node, by redis-py), `view` (what one node says of
itself), `milestones` and `choice` (judging those, pure), `settings` and `storage` (a node's own
configuration, and where it keeps its data), `rejoin` (what a node without data would do to
others, and introducing it to them). `canary` is redis-py, as an application has it, `options` is
what a workload may say, `lab` makes clusters of processes here.
"""

from brownout.databases.redis.grants import GRANTS
from brownout.databases.redis.lab.settings import RedisLab
from brownout.databases.redis.options import RedisOptions
from brownout.inventory.database import Database, LabKind, Server, if_secure, later

__all__ = ["REDIS"]


REDIS = Database(
    name="redis",
    title="Redis Cluster",
    driver="redis",
    adapter="brownout.databases.redis.adapter:RedisAdapter",
    extra="redis",
    canary="brownout.databases.redis.canary:RedisCanary",
    options=RedisOptions,
    most_bytes=512 * 2**20 - 4096,  # `proto-max-bulk-len` as a server comes, less what is around it
    check_target=later("brownout.databases.redis.choice:TARGETS.check"),
    labs={
        "redis": LabKind(
            settings=RedisLab,
            engine="brownout.databases.redis.lab.cluster",
            packages=if_secure(),
        )
    },
    open_request=b"INFO\r\n",
    grants=GRANTS,
    lab_server=later("brownout.databases.redis.lab.server:find_redis"),
    server=Server(
        program="redis-server",
        service="redis-server",
        port=6379,
        config_file="/etc/redis/redis.conf",
        images=("redis", "valkey"),
        own_options=("--dir", "--cluster-config-file", "--appenddirname", "--dbfilename"),
    ),
)
