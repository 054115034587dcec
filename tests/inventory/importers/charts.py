"""Pods as public charts and operators make them: their published shapes, with names of our own.

Each chart is what an API server says of one pod's specification. Sources: the templates of
Bitnami's charts (July 2026), and the sources of the operators (July and August 2026).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CHARTS", "Chart"]

_OWN_NAME = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
_SECRET = {"valueFrom": {"secretKeyRef": {"name": "shop", "key": "password"}}}


def _env(**variables: Any) -> list[dict[str, Any]]:
    return [
        {"name": name, **value} if isinstance(value, Mapping) else {"name": name, "value": value}
        for name, value in variables.items()
    ]


def _mounts(**at: str) -> list[dict[str, Any]]:
    return [{"name": name.replace("_", "-"), "mountPath": path} for name, path in at.items()]


def _ports(**ports: int) -> list[dict[str, Any]]:
    return [{"name": n.replace("_", "-"), "containerPort": p} for n, p in ports.items()]


def _empty(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "emptyDir": {}} for name in names]


@dataclass(frozen=True)
class Chart:
    """One pod of a chart, and what is right for it: `host` are the settings of its node."""

    name: str
    containers: Sequence[dict[str, Any]]
    database: str
    host: Mapping[str, Any]
    port: int
    pod: str = "shop-0"
    connection: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    owner: Mapping[str, Any] = field(default_factory=lambda: {"kind": "StatefulSet"})
    shard: str = ""
    volumes: Sequence[dict[str, Any]] = ()
    notes: Sequence[str] = ()

    @property
    def container(self) -> str:
        """The database's."""
        return str(self.host["container"])

    def owners(self) -> list[dict[str, Any]]:
        """What controls the pod."""
        return [{"metadata": {"name": "shop", "uid": "owner-uid"}}]

    def document(self) -> dict[str, Any]:
        """The pod as the API has it."""
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{self.pod}"}}
        reference = {"name": "shop", "uid": "owner-uid", "controller": True, **self.owner}
        return {
            "metadata": {
                "name": self.pod,
                "namespace": "databases",
                "uid": f"uid-{self.pod}",
                "labels": dict(self.labels),
                "ownerReferences": [reference],
            },
            "spec": {
                "hostname": self.pod,
                "subdomain": "shop-headless",
                "containers": list(self.containers),
                "volumes": [claim, *self.volumes],
                **self.spec,
            },
            "status": {"podIP": "10.4.0.7"},
        }


def _exporter(of: str) -> dict[str, Any]:
    port = _ports(http_metrics=9216)
    image = f"registry.acme.dev/bitnami/{of}-exporter:1"
    return {"name": "metrics", "image": image, "command": ["/bin/bash", "-ec"], "ports": port}


def _bitnami_redis_cluster(of: str) -> dict[str, Any]:
    """The containers of redis-cluster and valkey-cluster have the release's name."""
    upper, script = of.upper(), f"/opt/bitnami/scripts/{of}-cluster"
    return {
        "name": "shop",
        "image": f"docker.io/bitnami/{of}-cluster:8.2-debian-12",
        "command": ["/bin/bash", "-c"],
        "args": [
            f"if ! [[ -f /opt/bitnami/{of}/etc/{of}.conf ]]; then\n"
            f"  cp /opt/bitnami/{of}/etc/{of}-default.conf /opt/bitnami/{of}/etc/{of}.conf\nfi\n"
            f'pod_index=($(echo "$POD_NAME" | tr "-" "\\n"))\n'
            f'if [[ "$pod_index" == "0" ]]; then\n  export {upper}_CLUSTER_CREATOR="yes"\nfi\n'
            f"{script}/entrypoint.sh {script}/run.sh\n"
        ],
        "env": _env(
            POD_NAME=_OWN_NAME,
            **{f"{upper}_NODES": "shop-0.shop-headless ", f"{upper}_PASSWORD": _SECRET},
            **{f"{upper}_AOF_ENABLED": "yes"},
        ),
        "ports": _ports(**{f"tcp_{of}": 6379, f"tcp_{of}_bus": 16379}),
        "volumeMounts": _mounts(data=f"/bitnami/{of}/data", empty_dir=f"/opt/bitnami/{of}/etc/"),
    }


def _bitnami_redis(of: str) -> dict[str, Any]:
    return {
        "name": of,
        "image": f"docker.io/bitnami/{of}:8.2-debian-12",
        "command": ["/bin/bash"],
        "args": ["-ec", "/opt/bitnami/scripts/start-scripts/start-node.sh"],
        "env": _env(**{f"{of.upper()}_PORT": "6379", f"{of.upper()}_PASSWORD": _SECRET}),
        "ports": _ports(**{of: 6379}),
        "volumeMounts": _mounts(data="/data", empty_dir=f"/opt/bitnami/{of}/etc"),
    }


def _sentinel(of: str) -> dict[str, Any]:
    return {
        "name": "sentinel",
        "image": f"docker.io/bitnami/{of}-sentinel:8.2-debian-12",
        "command": ["/bin/bash"],
        "args": ["-ec", "/opt/bitnami/scripts/start-scripts/start-sentinel.sh"],
        "env": _env(**{f"{of.upper()}_SENTINEL_PORT": "26379"}),
        "ports": _ports(**{f"{of}_sentinel": 26379}),
    }


_MONGODB_SETUP = {
    "name": "mongodb",
    "image": "registry.acme.dev/mirror/bitnami/mongodb:8.0",
    "command": ["/scripts/setup.sh"],
    "env": _env(
        MY_POD_NAME=_OWN_NAME,
        MONGODB_REPLICA_SET_NAME="rs0",
        MONGODB_PORT_NUMBER="27017",
        MONGODB_ROOT_PASSWORD=_SECRET,
    ),
    "ports": _ports(mongodb=27017),
    "volumeMounts": _mounts(datadir="/bitnami/mongodb", scripts="/scripts/setup.sh"),
}


def _bitnami_sharded(mode: str, replica_set: str) -> dict[str, Any]:
    return {
        "name": "mongodb",
        "image": "docker.io/bitnami/mongodb-sharded:8.0",
        "command": ["/bin/bash", "/entrypoint/replicaset-entrypoint.sh"],
        "env": _env(
            MY_POD_NAME=_OWN_NAME,
            MONGODB_SHARDING_MODE=mode,
            MONGODB_REPLICA_SET_NAME=replica_set,
            MONGODB_PORT_NUMBER="27017",
        ),
        "ports": _ports(mongodb=27017),
        "volumeMounts": _mounts(datadir="/bitnami"),
    }


def _percona(replica_set: str, *flags: str) -> dict[str, Any]:
    return {
        "name": "mongod",
        "image": "percona/percona-server-mongodb:8.0.4-1",
        "command": ["/opt/percona/ps-entry.sh"],
        "args": [
            *("--bind_ip_all", "--auth", "--dbpath=/data/db", "--port=27017"),
            *(f"--replSet={replica_set}", "--storageEngine=wiredTiger", *flags),
        ],
        "env": _env(SERVICE_NAME="shop", MONGODB_PORT="27017", MONGODB_REPLSET=replica_set),
        "ports": _ports(mongodb=27017),
        "volumeMounts": _mounts(mongod_data="/data/db"),
    }


_PBM = {
    "name": "backup-agent",
    "image": "percona/percona-backup-mongodb:2.9.1",
    "command": ["/opt/percona/pbm-entry.sh"],
    "args": ["pbm-agent-entrypoint"],
    "env": _env(PBM_AGENT_MONGODB_USERNAME="backup", PBM_MONGODB_PORT="27017"),
}

_PATRONI_OF_OPERATORS: list[dict[str, Any]] = [
    {
        "name": "replication-cert-copy",
        "image": "registry.acme.dev/crunchydata/crunchy-postgres:ubi9-17.5",
        "command": ["bash", "-ceu", "--", "monitor() { sleep 5; }; monitor", "replication-cert"],
    },
    {
        "name": "pgbackrest",
        "image": "registry.acme.dev/crunchydata/crunchy-pgbackrest:ubi9-2.54",
        "command": ["pgbackrest", "server"],
    },
    {
        "name": "pgbackrest-config",
        "image": "registry.acme.dev/crunchydata/crunchy-pgbackrest:ubi9-2.54",
        "command": ["bash", "-ceu", "--", "monitor() { :; }; monitor", "pgbackrest-config"],
    },
]


def _patroni(image: str) -> dict[str, Any]:
    return {
        "name": "database",
        "image": image,
        "command": ["patroni", "/etc/patroni"],
        "env": _env(
            PGDATA="/pgdata/pg17",
            PGHOST="/tmp/postgres",
            PGPORT="5432",
            PATRONI_NAME=_OWN_NAME,
            PATRONICTL_CONFIG_FILE="/etc/patroni",
        ),
        "ports": _ports(postgres=5432),
        "volumeMounts": _mounts(postgres_data="/pgdata", patroni_config="/etc/patroni"),
    }


def _bitnami_postgresql(
    name: str, image: str, pod: str, ports: Sequence[Mapping[str, Any]], **variables: str
) -> Chart:
    directory = "/bitnami/postgresql"
    server = {
        "name": "postgresql",
        "image": image,
        "env": _env(POSTGRESQL_VOLUME_DIR=directory, PGDATA=f"{directory}/data", **variables),
        "ports": ports,
        "volumeMounts": _mounts(data=directory),
    }
    where = {
        "container": "postgresql",
        "program": "postgres",
        "server_directory": f"{directory}/data",
    }
    return Chart(
        name,
        [server, _exporter("postgres")],
        "postgresql",
        where,
        5432,
        pod=pod,
        notes=["not under Patroni"],
    )


_PATRONI_FILES = [{"name": "patroni-config", "projected": {"sources": []}}]

_SCYLLA = {
    "name": "scylla",
    "image": "docker.io/scylladb/scylla:6.2.3",
    "command": ["/usr/bin/bash", "-euExo", "pipefail", "-O", "inherit_errexit", "-c"],
    "args": ["exec /mnt/shared/scylla-operator sidecar --service-name=$(SERVICE_NAME)\n"],
    "env": _env(SERVICE_NAME=_OWN_NAME),
    "ports": _ports(intra_node=7000, cql=9042, jmx=7199),
    "volumeMounts": _mounts(data="/var/lib/scylla"),
}

CHARTS = [
    Chart(
        "Bitnami mongodb",
        [_MONGODB_SETUP, _exporter("mongodb")],
        "mongodb",
        {
            "container": "mongodb",
            "program": "mongod",
            "command": ["mongod", "--dbpath", "/bitnami/mongodb/data/db"],
        },
        27017,
        connection={"replica_set": "rs0"},
    ),
    Chart(
        "Bitnami mongodb-sharded",
        [_bitnami_sharded("shardsvr", "shop-shard-0"), _exporter("mongodb")],
        "mongodb",
        {
            "container": "mongodb",
            "program": "mongod",
            "command": ["mongod", "--dbpath", "/bitnami/mongodb/data/db"],
        },
        27017,
        pod="shop-shard0-data-0",
        shard="shop-shard-0",
    ),
    Chart(
        "Bitnami redis",
        [_bitnami_redis("redis"), _sentinel("redis"), _exporter("redis")],
        "redis",
        {
            "container": "redis",
            "program": "redis-server",
            "command": ["redis-server", "--dir", "/data"],
        },
        6379,
        pod="shop-node-0",
        notes=["not Redis Cluster"],
    ),
    Chart(
        "Bitnami redis-cluster",
        [_bitnami_redis_cluster("redis"), _exporter("redis")],
        "redis",
        {
            "container": "shop",
            "program": "redis-server",
            "command": ["redis-server", "--dir", "/bitnami/redis/data"],
        },
        6379,
    ),
    Chart(
        "Bitnami valkey",
        [_bitnami_redis("valkey"), _sentinel("valkey"), _exporter("redis")],
        "redis",
        {
            "container": "valkey",
            "program": "valkey-server",
            "command": ["redis-server", "--dir", "/data"],
        },
        6379,
        notes=["not Redis Cluster"],
    ),
    Chart(
        "Bitnami valkey-cluster",
        [_bitnami_redis_cluster("valkey"), _exporter("redis")],
        "redis",
        {
            "container": "shop",
            "program": "valkey-server",
            "command": ["redis-server", "--dir", "/bitnami/valkey/data"],
        },
        6379,
    ),
    Chart(
        "Bitnami cassandra",
        [
            {
                "name": "cassandra",
                "image": "docker.io/bitnami/cassandra:5.0.4-debian-12",
                "command": [
                    *("bash", "-ec"),
                    "if [[ $POD_NAME =~ (.*)-0$ ]]; then\n  export CASSANDRA_PASSWORD_SEEDER=yes\n"
                    "fi\n/opt/bitnami/scripts/cassandra/entrypoint.sh "
                    "/opt/bitnami/scripts/cassandra/run.sh\n",
                ],
                "env": _env(CASSANDRA_CLUSTER_NAME="shop", CASSANDRA_RACK="rack1"),
                "ports": _ports(intra=7000, jmx=7199, cql=9042),
                "volumeMounts": _mounts(
                    data="/bitnami/cassandra", empty_dir="/opt/bitnami/cassandra/conf"
                ),
            },
            _exporter("cassandra"),
        ],
        "cassandra",
        {
            "container": "cassandra",
            "program": "java",
            "config_file": "/opt/bitnami/cassandra/conf/cassandra.yaml",
        },
        9042,
        volumes=_empty("empty-dir"),
        notes=["a wipe of it is refused"],
    ),
    Chart(
        "Bitnami etcd",
        [
            {
                "name": "etcd",
                "image": "docker.io/bitnami/etcd:3.6.4-debian-12",
                "env": _env(
                    MY_POD_NAME=_OWN_NAME,
                    ETCD_ON_K8S="yes",
                    ETCD_NAME="$(MY_POD_NAME)",
                    ETCD_DATA_DIR="/bitnami/etcd/data",
                    ETCD_INITIAL_ADVERTISE_PEER_URLS="http://$(MY_POD_NAME).shop-headless:2380",
                    ETCD_INITIAL_CLUSTER_STATE="new",
                ),
                "ports": _ports(client=2379, peer=2380),
                "volumeMounts": _mounts(data="/bitnami/etcd"),
            }
        ],
        "etcd",
        {
            "container": "etcd",
            "program": "etcd",
            "command": [
                *("etcd", "--data-dir", "/bitnami/etcd/data"),
                *("--initial-advertise-peer-urls", "http://shop-0.shop-headless:2380"),
                *("--initial-cluster-state", "new"),
            ],
        },
        2379,
    ),
    _bitnami_postgresql(
        "Bitnami postgresql",
        "docker.io/bitnami/postgresql:17.5.0-debian-12",
        "shop-postgresql-read-0",
        _ports(tcp_postgresql=5432),
        POSTGRESQL_PORT_NUMBER="5432",
        POSTGRES_REPLICATION_MODE="slave",
    ),
    _bitnami_postgresql(
        "Bitnami postgresql-ha",
        "registry.acme.dev/team/postgresql-repmgr:17.5.0",
        "shop-postgresql-0",
        _ports(postgresql=5432),
        REPMGR_PORT_NUMBER="5432",
        REPMGR_PRIMARY_HOST="shop-postgresql-0.shop-headless",
    ),
    Chart(
        "Zalando postgres-operator",
        [
            {
                "name": "postgres",
                "image": "ghcr.io/zalando/spilo-17:4.0-p3",
                "env": _env(
                    SCOPE="shop",
                    PGROOT="/home/postgres/pgdata/pgroot",
                    KUBERNETES_ROLE_LABEL="spilo-role",
                    PGVERSION="17",
                    SPILO_CONFIGURATION="{}",
                ),
                "ports": _ports(patroni=8008, postgresql=5432, pgbouncer=8080),
                "volumeMounts": _mounts(pgdata="/home/postgres/pgdata"),
            },
            {"name": "logs", "image": "registry.acme.dev/fluent-bit:3"},
        ],
        "postgresql",
        {
            "container": "postgres",
            "program": "patroni",
            "server_directory": "/home/postgres/pgdata/pgroot/data",
            "config_file": "/home/postgres/postgres.yml",
        },
        5432,
    ),
    Chart(
        "Crunchy PGO",
        [
            _patroni("registry.acme.dev/crunchydata/crunchy-postgres:ubi9-17.5"),
            *_PATRONI_OF_OPERATORS,
        ],
        "postgresql",
        {
            "container": "database",
            "program": "patroni",
            "server_directory": "/pgdata/pg17",
            "config_file": "/etc/patroni",
        },
        5432,
        pod="shop-instance1-b7xq-0",
        volumes=_PATRONI_FILES,
    ),
    Chart(
        "Percona PostgreSQL",
        [
            _patroni("docker.io/percona/percona-postgresql-operator:2.7.0-ppg17.5.2-postgres"),
            *_PATRONI_OF_OPERATORS,
        ],
        "postgresql",
        {
            "container": "database",
            "program": "patroni",
            "server_directory": "/pgdata/pg17",
            "config_file": "/etc/patroni",
        },
        5432,
        pod="shop-instance1-vm2k-0",
        volumes=_PATRONI_FILES,
    ),
    Chart(
        "CloudNativePG",
        [
            {
                "name": "postgres",
                "image": "ghcr.io/cloudnative-pg/postgresql:17.5",
                "command": ["/controller/manager", "instance", "run", "--status-port-tls"],
                "env": _env(
                    PGDATA="/var/lib/postgresql/data/pgdata",
                    POD_NAME="shop-1",
                    CLUSTER_NAME="shop",
                    PGPORT="5432",
                    PGHOST="/controller/run",
                ),
                "ports": _ports(postgresql=5432, metrics=9187, status=8000),
                "volumeMounts": _mounts(pgdata="/var/lib/postgresql/data"),
            }
        ],
        "postgresql",
        {
            "container": "postgres",
            "program": "postgres",
            "server_directory": "/var/lib/postgresql/data/pgdata",
            "claims": ["data-shop-1"],
        },
        5432,
        pod="shop-1",
        owner={"kind": "Cluster", "apiVersion": "postgresql.cnpg.io/v1"},
        labels={
            "cnpg.io/cluster": "shop",
            "cnpg.io/instanceName": "shop-1",
            "cnpg.io/instanceRole": "primary",
            "cnpg.io/podRole": "instance",
        },
        spec={"subdomain": None},
    ),
    Chart(
        "Percona MongoDB",
        [_percona("rs0"), _PBM, {"name": "logs", "image": "percona/fluentbit:4.0.1"}],
        "mongodb",
        {
            "container": "mongod",
            "program": "mongod",
            "command": ["mongod", "--dbpath", "/data/db"],
        },
        27017,
        pod="shop-rs0-0",
        connection={"replica_set": "rs0"},
    ),
    Chart(
        "Percona MongoDB, sharded",
        [_percona("rs1", "--shardsvr"), _PBM],
        "mongodb",
        {
            "container": "mongod",
            "program": "mongod",
            "command": ["mongod", "--dbpath", "/data/db"],
        },
        27017,
        pod="shop-rs1-0",
        shard="rs1",
    ),
    Chart(
        "MongoDB community operator",
        [
            {
                "name": "mongod",
                "image": "docker.io/mongodb/mongodb-community-server:8.0.4-ubi9",
                "command": [
                    *("/bin/sh", "-c"),
                    '\nif [ -e "/hooks/version-upgrade" ]; then\n  /hooks/version-upgrade\nfi\n\n'
                    "while ! [ -f /data/automation-mongod.conf ]; do sleep 3 ; done ; sleep 2 ;\n"
                    "exec mongod -f /data/automation-mongod.conf;\n",
                ],
                "args": [""],
                "env": _env(AGENT_STATUS_FILEPATH="/healthstatus/agent-health-status.json"),
                "volumeMounts": _mounts(data="/data"),
            },
            {
                "name": "mongodb-agent",
                "image": "quay.io/mongodb/mongodb-agent-ubi:108.0.2.8729-1",
                "command": ["/bin/bash", "-c", "agent/mongodb-agent -cluster=/var/lib/automation"],
            },
        ],
        "mongodb",
        {
            "container": "mongod",
            "program": "mongod",
            "config_file": "/data/automation-mongod.conf",
        },
        27017,
        notes=["on a volume of data"],
    ),
    Chart(
        "k8ssandra / cass-operator",
        [
            {
                "name": "cassandra",
                "image": "cr.k8ssandra.io/k8ssandra/cass-management-api:5.0.4-ubi",
                "env": _env(
                    POD_NAME=_OWN_NAME, USE_MGMT_API="true", MGMT_API_EXPLICIT_START="true"
                ),
                "ports": _ports(native=9042, internode=7000, jmx=7199, mgmt_api_http=8080),
                "volumeMounts": _mounts(data="/var/lib/cassandra", server_config="/config"),
            },
            {"name": "server-system-logger", "image": "cr.k8ssandra.io/k8ssandra/system-logger:1"},
        ],
        "cassandra",
        {
            "container": "cassandra",
            "program": "java",
            "config_file": "/config/cassandra.yaml",
        },
        9042,
        pod="shop-dc1-rack1-sts-0",
        labels={"cassandra.datastax.com/rack": "rack1"},
        volumes=_empty("server-config"),
        notes=["a wipe of it is refused"],
    ),
    Chart(
        "OT Redis operator",
        [
            {
                "name": "shop-leader",
                "image": "quay.io/opstree/redis:v7.2.11",
                "env": _env(SERVER_MODE="leader", SETUP_MODE="cluster", PERSISTENCE_ENABLED="true"),
                "ports": _ports(redis=6379, redis_bus=16379),
                "volumeMounts": _mounts(node_conf="/node-conf", data="/data"),
            },
            {
                "name": "redis-exporter",
                "image": "quay.io/opstree/redis-exporter:v1.44.0",
                "env": _env(REDIS_ADDR="redis://localhost:6379"),
            },
        ],
        "redis",
        {
            "container": "shop-leader",
            "program": "redis-server",
            "command": [
                *("redis-server", "--dir", "/data"),
                *("--cluster-config-file", "/node-conf/nodes.conf"),
            ],
        },
        6379,
        pod="shop-leader-0",
        notes=["/node-conf"],
    ),
    Chart(
        "Aerospike Kubernetes operator",
        [
            {
                "name": "aerospike-server",
                "image": "docker.io/aerospike/aerospike-server-enterprise:8.1.0.1",
                "env": _env(MY_POD_NAME=_OWN_NAME),
                "ports": _ports(service=3000, fabric=3001, heartbeat=3002, info=3003),
                "volumeMounts": _mounts(confdir="/etc/aerospike", data="/opt/aerospike/data"),
            },
            {"name": "exporter", "image": "aerospike/aerospike-prometheus-exporter:1"},
        ],
        "aerospike",
        {
            "container": "aerospike-server",
            "program": "asd",
            "config_file": "/etc/aerospike/aerospike.conf",
        },
        3000,
        volumes=_empty("confdir"),
        labels={"aerospike.com/rack-id": "1"},
        notes=["a wipe of it is refused"],
    ),
    Chart(
        "kubeadm etcd",
        [
            {
                "name": "etcd",
                "image": "registry.k8s.io/etcd:3.6.4-0",
                "command": [
                    *("etcd", "--advertise-client-urls=https://10.4.0.7:2379"),
                    *("--cert-file=/etc/kubernetes/pki/etcd/server.crt", "--name=cp-1"),
                    *("--data-dir=/var/lib/etcd", "--listen-peer-urls=https://10.4.0.7:2380"),
                    "--initial-advertise-peer-urls=https://10.4.0.7:2380",
                ],
                "ports": _ports(probe_port=2381),
                "volumeMounts": _mounts(etcd_data="/var/lib/etcd"),
            }
        ],
        "etcd",
        {
            "container": "etcd",
            "program": "etcd",
            "command": [
                *("etcd", "--data-dir", "/var/lib/etcd"),
                *("--initial-advertise-peer-urls", "https://10.4.0.7:2380"),
            ],
        },
        2379,
        pod="etcd-cp-1",
        owner={"kind": "Node", "apiVersion": "v1"},
        spec={"hostname": None, "subdomain": None, "hostNetwork": True},
        notes=["by ssh"],
    ),
    Chart(
        "Scylla operator",
        [_SCYLLA, {"name": "scylla-manager-agent", "image": "scylladb/scylla-manager-agent:3.5"}],
        "cassandra",
        {
            "container": "scylla",
            "program": "scylla",
            "config_file": "/etc/scylla/scylla.yaml",
        },
        9042,
    ),
]
