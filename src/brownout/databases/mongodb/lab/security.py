"""What makes a MongoDB lab a secured one: TLS with an authority of its own, and a login.

    tls/ca.pem          what clients trust
    tls/n1.pem, …       each member's certificate and key
    tls/client.pem      ours; its subject is the database's only user
    tls/keyfile         what members prove to each other that they belong together

The authority's key is not kept, so no further certificate can be made for this lab.
"""

import base64
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymongo
from pymongo.errors import PyMongoError

from brownout.base.errors import ClusterError
from brownout.databases.lab import tls
from brownout.databases.mongodb.access import access
from brownout.inventory.connection import Auth, Connection, Tls
from brownout.inventory.model import Cluster, Node

__all__ = ["ROLES", "USER", "add_user", "connection", "lay_out", "member_login", "without_login"]

#: MongoDB's name of the lab's user. Its organisation must not be that of the members.
USER = "CN=brownout,O=clients"
#: What docs/clusters.md asks for, and no more.
ROLES = (
    *(
        {"role": role, "db": "admin"}
        for role in ("clusterMonitor", "clusterManager", "hostManager")
    ),
    {"role": "readWrite", "db": "brownout"},
)
_TIMEOUT_MS = 30_000


def lay_out(directory: Path, name: str, nodes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Write all certificates; return what each member's configuration gets, by its name."""
    tls.issue(directory, name, dict.fromkeys(nodes, "127.0.0.1"))
    place = directory / "tls"
    tls.keep(place / "keyfile", base64.b64encode(secrets.token_bytes(96)))
    return {node: _configuration(place, node) for node in nodes}


def connection(directory: Path, plain: Connection) -> Connection:
    """Return how clients connect to the lab in `directory`."""
    place = directory / "tls"
    ours = Tls(ca_file=place / "ca.pem", certificate_file=place / "client.pem")
    return plain.model_copy(update={"tls": ours, "auth": Auth(mechanism="x509")})


def without_login(cluster: Cluster) -> Cluster:
    """Return a cluster as it can be reached while it has no user."""
    bare = cluster.connection.model_copy(update={"auth": None})
    return cluster.model_copy(update={"connection": bare})


def add_user(cluster: Cluster, directory: Path, node: Node) -> None:
    """Make the lab's user on `node`, its primary.

    Done as the members themselves log in to each other: the exception that MongoDB makes for
    loopback addresses does not cover users with certificates.
    """
    way = access(without_login(cluster))
    try:
        with pymongo.MongoClient[dict[str, Any]](
            way.direct_uri(node.address),
            **way.pymongo(),
            **member_login(directory),
            timeoutMS=_TIMEOUT_MS,
        ) as client:
            client["$external"].command("createUser", USER, roles=list(ROLES))
    except PyMongoError as error:
        raise ClusterError(f"the lab's user `{USER}` cannot be made: {error}") from error


def member_login(directory: Path) -> dict[str, Any]:
    """Return what logs in to the lab in `directory` as one of its members, who may do all."""
    shared = (directory / "tls" / "keyfile").read_text(encoding="ascii")
    return {"username": "__system", "password": shared, "authSource": "local"}


def _configuration(place: Path, node: str) -> dict[str, Any]:
    return {
        "net": {
            "tls": {
                "mode": "requireTLS",
                "certificateKeyFile": str(place / f"{node}.pem"),
                "CAFile": str(place / "ca.pem"),
                # Who logs in by password has none.
                "allowConnectionsWithoutCertificates": True,
            }
        },
        "security": {"keyFile": str(place / "keyfile")},
        "setParameter": {"authenticationMechanisms": "SCRAM-SHA-256,MONGODB-X509"},
    }
