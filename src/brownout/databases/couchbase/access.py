"""How a node is reached: encrypted or not, and who we are to it."""

from dataclasses import dataclass

from brownout.base.errors import ConfigurationError
from brownout.databases import access as common
from brownout.inventory.model import Cluster

__all__ = ["Access", "access", "bucket_of"]

_BUCKET = "brownout"


@dataclass(frozen=True, slots=True)
class Access(common.Access):
    """How to connect; `username` is empty where the certificate is the login."""

    bucket: str = _BUCKET


def bucket_of(cluster: Cluster) -> str:
    """Return the bucket that the inventory's `connection.options` name; `brownout` by default."""
    return str(cluster.connection.options.get("bucket", _BUCKET))


def access(cluster: Cluster) -> Access:
    """Return how the inventory says to connect to nodes.

    Raises `ConfigurationError` with all that Couchbase does not have, or wants and is not there.
    """
    connection, where = cluster.connection, f"cluster `{cluster.name}`"
    encrypted = connection.tls is not None and connection.tls.enabled
    auth = connection.auth
    by_certificate = auth is not None and (auth.mechanism == "x509" or auth.password is None)
    problems = []
    if connection.uri is not None:
        problems.append("connection.uri: Couchbase has none here, wanted connection.hosts")
    if auth is None:
        problems.append("connection.auth: found none, wanted one: Couchbase requires a login")
    if by_certificate and not encrypted:
        problems.append("connection.auth: found x509 without connection.tls, wanted both")
    without = ", ".join(node.name for node in cluster.nodes if node.api is None)
    if without:
        problems.append(f"nodes: {without}: wanted `api`, where the node's REST API listens (8091)")
    if problems:
        raise ConfigurationError([f"{where}: {problem}" for problem in problems])
    context = connection.tls.context() if connection.tls is not None and encrypted else None
    if auth is None or by_certificate or auth.password is None:
        return Access(context, bucket=bucket_of(cluster))
    password = auth.password.get_secret_value()
    return Access(context, auth.username, password, bucket_of(cluster))
