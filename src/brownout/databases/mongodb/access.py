"""How drivers connect to a replica set: pure functions from an inventory's `connection`.

The user's name and password never stand in a URI that is made here, so that a driver's error
message cannot repeat them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from brownout.inventory.connection import Tls
from brownout.inventory.model import Cluster

__all__ = ["Access", "access", "at_hosts", "load_spec"]

#: With these a login is known to the database of its URI's path; others are known elsewhere.
_OF_A_DATABASE = frozenset({"", "SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN"})
#: URI options that concern the set and not one member of it.
_OF_THE_SET = frozenset({"replicaset", "directconnection", "loadbalanced", "srvmaxhosts"})


@dataclass(frozen=True, slots=True)
class Access:
    """Everything a driver needs: `uri` without user information, and the rest beside it.

    A URI's options may hold a passphrase, so they are as secret as the password.
    """

    uri: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    tls: Tls | None = None

    def direct_uri(self, address: str) -> str:
        """Return the URI of the one member at `address`, with the same options."""
        options = {k: v for k, v in self.options.items() if k.lower() not in _OF_THE_SET}
        if self.uri.startswith("mongodb+srv:") and not {"tls", "ssl"} & options.keys():
            options["tls"] = "true"  # as a URI with a service record means by default
        return _uri("mongodb", address, "", {**options, "directConnection": "true"})

    @property
    def logs_in(self) -> bool:
        """Whether it has a login, by a password or by a certificate."""
        return bool(self.username) or "authmechanism" in map(str.lower, self.options)

    def without_login(self) -> "Access":
        """Return how to connect without a login."""
        options = {k: v for k, v in self.options.items() if not k.lower().startswith("auth")}
        return replace(self, options=options, username="", password="")

    def pymongo(self) -> dict[str, Any]:
        """Return the keyword arguments for pymongo's client beside a URI."""
        arguments: dict[str, Any] = {}
        if self.username:
            arguments["username"] = self.username
        if self.password:
            arguments["password"] = self.password
        if self.tls is not None and self.tls.enabled:
            arguments |= {"tls": True, "tlsInsecure": self.tls.insecure}
            if self.tls.ca_file:
                arguments["tlsCAFile"] = str(self.tls.ca_file)
            if self.tls.certificate_file:
                arguments["tlsCertificateKeyFile"] = str(self.tls.certificate_file)
            if self.tls.key_passphrase:
                passphrase = self.tls.key_passphrase.get_secret_value()
                arguments["tlsCertificateKeyFilePassword"] = passphrase
        return arguments

    def generator(self) -> dict[str, Any]:
        """Return `connection` as the load generator's specification has it; it holds secrets."""
        connection: dict[str, Any] = {
            "uri": self.uri,
            "username": self.username,
            "password": self.password,
        }
        if self.tls is not None:
            connection["tls"] = self.tls.for_generator()
        return connection


def access(cluster: Cluster) -> Access:
    """Return how to connect to `cluster`: by its URI, or by its hosts, by default its nodes."""
    connection = cluster.connection
    auth = connection.auth
    if connection.uri is not None:
        scheme, user, password, hosts, path, options = _parts(connection.uri.get_secret_value())
        if path and user and _is_of_its_database(scheme, options):
            options["authSource"] = unquote(path)
    else:
        hosts = ",".join(connection.hosts or [node.address for node in cluster.nodes])
        scheme, user, password, path, options = "mongodb", "", "", "", {}
    if connection.replica_set:
        options["replicaSet"] = connection.replica_set
    if auth is not None:
        user = auth.username
        password = auth.password.get_secret_value() if auth.password else ""
        options |= (
            {"authMechanism": "MONGODB-X509", "authSource": "$external"}
            if auth.mechanism == "x509"
            else {"authSource": auth.source}
        )
    return Access(_uri(scheme, hosts, path, options), options, user, password, connection.tls)


def at_hosts(uri: str, hosts: Sequence[str]) -> str:
    """Return a connection URI with its login and its options, and other hosts."""
    return re.sub(r"^([^:]*://(?:[^/?]*@)?)[^/?]*", lambda kept: kept[1] + ",".join(hosts), uri)


def load_spec(cluster: Cluster) -> dict[str, Any]:
    """Return how the load generator connects: driver, connection with secrets, options."""
    options = {"write_concern": "majority", **cluster.connection.options}
    connection = access(cluster.as_the_load).generator()
    return {"driver": "mongodb", "connection": connection, "options": options}


def _is_of_its_database(scheme: str, options: Mapping[str, str]) -> bool:
    """Whether a URI's login is known to the database that it names, as it is by default.

    Beside a service record the DNS may name another one, as it does for Atlas.
    """
    words = {name.lower(): value for name, value in options.items()}
    mechanism = words.get("authmechanism", "")
    return scheme == "mongodb" and "authsource" not in words and mechanism in _OF_A_DATABASE


def _parts(uri: str) -> tuple[str, str, str, str, str, dict[str, str]]:
    """Take a connection URI apart: scheme, user, password, hosts, database, options."""
    scheme, _, rest = uri.partition("://")
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    userinfo, _, hosts = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    return scheme, unquote(user), unquote(password), hosts, path, dict(parse_qsl(query))


def _uri(scheme: str, hosts: str, path: str, options: Mapping[str, str]) -> str:
    query = f"?{urlencode(options)}" if options else ""
    return f"{scheme}://{hosts}/{path}{query}"
