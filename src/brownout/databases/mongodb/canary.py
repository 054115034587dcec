"""pymongo as an application has it: its own defaults, and what the application sets."""

import re
from collections.abc import Mapping
from typing import Any

import pymongo
from pymongo.errors import OperationFailure, PyMongoError

from brownout.base.errors import ConfigurationError
from brownout.databases.canary import NotFound, Target
from brownout.inventory.canary import Policies

__all__ = ["MongoCanary"]

#: What says which data counts is the load's, so that both are promised the same. Time-outs and
#: retries are the application's.
_SHARED = {
    "write_concern": "w",
    "journal": "journal",
    "read_concern": "readConcernLevel",
    "read_preference": "readPreference",
}
#: Where to connect and as whom is said by the inventory's `connection`.
_NOT_POLICIES = re.compile(
    r"(?i)host|port|username|password|auth.*|tls.*|ssl.*|replicaset|directconnection|loadbalanced"
    r"|srv.*|connect|document_class|type_registry|auto_encryption_opts"
)
_COLLECTION = "canary"


class MongoCanary:
    """One client with its own pool, and the collection `canary` of the load's database."""

    package = "pymongo"

    def __init__(self, target: Target) -> None:
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(
            target.connection["uri"],
            appname="brownout-canary",
            **_login(target.connection),
            **{**_shared(target.options), **target.policies},
        )
        self._collection = self._client[target.namespace][_COLLECTION]

    @staticmethod
    def check(policies: Policies) -> None:
        """Have pymongo itself check the options; it opens no connection."""
        foreign = sorted(name for name in policies if _NOT_POLICIES.fullmatch(name))
        if foreign:
            raise ConfigurationError(
                f"canary.policies: found {', '.join(foreign)}, which say where to connect or as "
                "whom; wanted policies, as serverSelectionTimeoutMS",
                "the inventory's `connection` says the rest",
            )
        try:
            options: dict[str, Any] = dict(policies)
            pymongo.MongoClient("mongodb://localhost", connect=False, **options).close()
        except (PyMongoError, TypeError, ValueError) as error:
            raise ConfigurationError(f"canary.policies: pymongo says: {error}") from error

    @staticmethod
    def code(error: Exception) -> str:
        """Return the server's number of the error, where it answered with one."""
        return str(error.code or "") if isinstance(error, OperationFailure) else ""

    def policies(self) -> dict[str, Any]:
        """Return what the client says of itself, in the names of its options."""
        options = self._client.options
        pool = options.pool_options
        return {
            **options.write_concern.document,
            "readConcernLevel": options.read_concern.level,
            "readPreference": options.read_preference.mongos_mode,
            "retryReads": options.retry_reads,
            "retryWrites": options.retry_writes,
            "timeoutMS": _ms(options.timeout),
            "serverSelectionTimeoutMS": _ms(options.server_selection_timeout),
            "connectTimeoutMS": _ms(pool.connect_timeout),
            "socketTimeoutMS": _ms(pool.socket_timeout),
            "heartbeatFrequencyMS": _ms(options.heartbeat_frequency),
            "maxPoolSize": pool.max_pool_size,
        }

    def write(self, key: int, value: int) -> None:
        """Set one document; what is in it does not count."""
        self._collection.update_one({"_id": key}, {"$set": {"value": value}}, upsert=True)

    def read(self, key: int) -> None:
        """Find it again."""
        if self._collection.find_one({"_id": key}) is None:
            raise NotFound

    def clean(self) -> None:
        """Drop the collection, which only canaries write to."""
        self._collection.drop()

    def close(self) -> None:
        """Close the client."""
        self._client.close()


def _shared(options: Mapping[str, Any]) -> dict[str, Any]:
    given = ((ours, options.get(name)) for name, ours in _SHARED.items())
    shared: dict[str, Any] = {name: value for name, value in given if value is not None}
    if str(shared.get("w")).isdecimal():
        shared["w"] = int(shared["w"])
    return shared


def _login(connection: Mapping[str, Any]) -> dict[str, Any]:
    """Return who we are, and the generator's `tls`, as pymongo's arguments."""
    tls = connection.get("tls") or {}
    encrypted = {
        "tls": True,
        "tlsInsecure": bool(tls.get("insecure_skip_verify")),
        "tlsCAFile": tls.get("ca_file"),
        "tlsCertificateKeyFile": tls.get("cert_file"),  # which holds the key as well
        "tlsCertificateKeyFilePassword": tls.get("key_passphrase"),
    }
    given = {
        "username": connection.get("username"),
        "password": connection.get("password"),
        **(encrypted if tls.get("enabled") else {}),
    }
    return {name: value for name, value in given.items() if value not in (None, "")}


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
