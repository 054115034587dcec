"""How a member is reached: encrypted or not, and who we are to it."""

from dataclasses import dataclass, field

from brownout.base.errors import ConfigurationError
from brownout.databases import access as common
from brownout.inventory.connection import Tls
from brownout.inventory.model import Cluster, Node

__all__ = ["Access", "access", "api_of"]

#: Where Patroni listens where nothing else is said.
_API_PORT = 8008
_USER = "postgres"


@dataclass(frozen=True, slots=True)
class Access(common.Access):
    """How to connect: `tls` encrypts Patroni's API, `conninfo` is libpq's for PostgreSQL itself."""

    username: str = _USER
    conninfo: dict[str, str] = field(default_factory=dict, repr=False)


def access(cluster: Cluster) -> Access:
    """Return how the inventory says to connect to members; the same login holds for both.

    Raises `ConfigurationError` for what the database does not have.
    """
    connection = cluster.connection
    if connection.uri is not None:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.uri: found one, wanted connection.hosts: each "
            "member is asked itself"
        )
    auth = connection.auth
    if auth is not None and not auth.username:
        raise ConfigurationError(
            f"cluster `{cluster.name}`: connection.auth: found no username, wanted that of the role"
        )
    username = auth.username if auth else _USER
    password = auth.password.get_secret_value() if auth and auth.password else ""
    info = {"user": username, "dbname": str(connection.options.get("database", "postgres"))}
    if password:
        info["password"] = password
    tls = connection.tls if connection.tls and connection.tls.enabled else None
    info |= _encryption(tls) if tls else {"sslmode": "disable"}
    return Access(tls.context() if tls else None, username, password, info)


def api_of(node: Node) -> str:
    """Return where the node's Patroni listens: `api`, or the usual port of the node's address."""
    if node.api is not None:
        return str(node.api)
    return f"{node.address.rpartition(':')[0]}:{_API_PORT}"


def _encryption(tls: Tls) -> dict[str, str]:
    """Return libpq's settings; a certificate file of ours has its key as well."""
    info = {"sslmode": "require" if tls.insecure else "verify-full"}
    if not tls.insecure:
        info["sslrootcert"] = str(tls.ca_file) if tls.ca_file else "system"
    if tls.certificate_file:
        info |= {"sslcert": str(tls.certificate_file), "sslkey": str(tls.certificate_file)}
        if tls.key_passphrase:
            info["sslpassword"] = tls.key_passphrase.get_secret_value()
    return info
