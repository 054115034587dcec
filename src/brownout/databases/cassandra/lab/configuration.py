"""The files of one node: cassandra.yaml, the arguments of its JVM, and what it logs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from brownout.databases.cassandra.lab.settings import CassandraLab

__all__ = ["USER", "Place", "cassandra_yaml", "jvm_arguments", "logging", "rack"]

#: The role of a secure lab.
USER = "brownout"
_PARTITIONER = "org.apache.cassandra.dht.Murmur3Partitioner"
_SEEDS = "org.apache.cassandra.locator.SimpleSeedProvider"
_PEM = "org.apache.cassandra.security.PEMBasedSslContextFactory"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node listens: for clients, for the other nodes, and on loopback for JMX.

    Each has an address of its own: the load's client tells nodes apart by that alone.
    """

    host: str
    client: int
    storage: int
    jmx: int

    @property
    def address(self) -> str:
        """Where clients reach it, as `127.0.0.2:9042`."""
        return f"{self.host}:{self.client}"

    @property
    def peer(self) -> str:
        """Where the other nodes reach it."""
        return f"{self.host}:{self.storage}"


def cassandra_yaml(
    spec: CassandraLab,
    name: str,
    number: int,
    places: Mapping[int, Place],
    home: Path,
    data: Path,
    formed: bool,
) -> str:
    """Return the cassandra.yaml of node `number` of the nodes at `places`, with its `data` there.

    In a new cluster every node is a seed, so none waits for another. Once it is `formed`, no node
    is a seed in its own file, because a seed would not copy the data that it lost.
    """
    own = places[number]
    seeds = [at.peer for other, at in sorted(places.items()) if not formed or other != number]
    seeds = seeds or [own.peer]
    settings: dict[str, Any] = {
        "cluster_name": name,
        "partitioner": _PARTITIONER,
        "num_tokens": 1,
        "initial_token": str(-(2**63) + (number - 1) * 2**64 // len(places)),
        "endpoint_snitch": "GossipingPropertyFileSnitch",
        "listen_address": own.host,
        "rpc_address": own.host,
        "native_transport_port": own.client,
        "storage_port": own.storage,
        "data_file_directories": [str(data / "data")],
        "commitlog_directory": str(data / "commitlog"),
        "hints_directory": str(data / "hints"),
        "saved_caches_directory": str(data / "saved_caches"),
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "1000ms",
        "hints_flush_period": "1000ms",
        "auto_snapshot": False,
        "seed_provider": [
            {
                "class_name": _SEEDS,
                "parameters": [{"seeds": ",".join(seeds)}],
            }
        ],
    }
    if spec.secure:
        tls = home.parent / "tls"
        settings |= {
            "authenticator": "PasswordAuthenticator",
            "authorizer": "CassandraAuthorizer",
            "client_encryption_options": {
                "enabled": True,
                "require_client_auth": True,
                "ssl_context_factory": {"class_name": _PEM},
                "keystore": str(tls / f"n{number}.pem"),
                "truststore": str(tls / "ca.pem"),
            },
        }
    return yaml.safe_dump(settings, sort_keys=False)


def jvm_arguments(
    spec: CassandraLab, at: Place, home: Path, data: Path, jars: Path, formed: bool
) -> str:
    """Return the argument file of one node's JVM.

    Once the cluster is `formed`, a node without data replaces itself, and a node with data starts
    without waiting for another one.
    """
    (agent,) = sorted(jars.glob("jamm-*.jar"))[:1]
    lines = [
        f"-Xms{spec.heap_mb}m",
        f"-Xmx{spec.heap_mb}m",
        f"-javaagent:{agent}",
        "-cp",
        str(jars / "*"),
        f"-Dcassandra.config=file://{home / 'cassandra.yaml'}",
        f"-Dcassandra-rackdc.properties=file://{home / 'rackdc.properties'}",
        f"-Dcassandra.storagedir={data}",
        f"-Dcassandra.jmx.local.port={at.jmx}",
        f"-Dcassandra.ring_delay_ms={spec.ring_delay_ms}",
        "-Dcassandra.enable_nodelocal_queries=true",  # by which copies are compared
        f"-Dlogback.configurationFile={home / 'logback.xml'}",
    ]
    if formed:
        lines += [
            f"-Dcassandra.replace_address_first_boot={at.peer}",
            "-Dcassandra.allow_unsafe_join=true",
        ]
    return "".join(_quoted(line) + "\n" for line in lines)


def rack(spec: CassandraLab, number: int) -> str:
    """Return the file with a node's data centre and rack."""
    return f"dc=dc1\nrack=r{spec.rack_of(number) or 1}\n"


def logging() -> str:
    """Return a logback.xml that logs to standard output, which is the node's log file."""
    return (
        '<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder>'
        "<pattern>%date %level %logger{0} %msg%n</pattern></encoder></appender>"
        '<root level="INFO"><appender-ref ref="out"/></root></configuration>\n'
    )


def _quoted(word: str) -> str:
    """Return a word quoted for Java's argument files."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
