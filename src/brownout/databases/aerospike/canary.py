"""The `aerospike` client as an application has it: its own defaults, and what the application sets.

    policies: {max_error_rate: 100, read: {total_timeout: 500}, write: {max_retries: 1}}

What stands by itself is of the client, the rest of one kind of operation. A value may be the name
of one of the client's constants, as POLICY_COMMIT_LEVEL_MASTER.
"""

import socket
from collections.abc import Mapping
from typing import Any

import aerospike
from aerospike import exception

from brownout.base.errors import ConfigurationError
from brownout.databases.canary import KEYS, Target
from brownout.inventory.canary import Policies

__all__ = ["AerospikeCanary"]

_SCHEME, _DEFAULT_PORT = "aerospike://", 3000
#: Where to connect and as whom is said by the inventory's `connection`.
_NOT_POLICIES = frozenset(
    {"hosts", "user", "password", "tls", "lua", "shm", "use_shared_connection", "validate_keys",
     "serialization", "config_provider", "policies", "auth_mode"}
)  # fmt: skip
_AUTH_MODES = {
    "internal": aerospike.AUTH_INTERNAL,
    "external": aerospike.AUTH_EXTERNAL,
    "pki": aerospike.AUTH_PKI,
}
#: What says which data counts is the load's, so that both are promised the same. Time-outs and
#: retries are the application's.
_SHARED: Mapping[str, tuple[str, str, Mapping[str, int]]] = {
    "commit_level": ("write", "commit_level", {
        "all": aerospike.POLICY_COMMIT_LEVEL_ALL,
        "master": aerospike.POLICY_COMMIT_LEVEL_MASTER,
    }),
    "read_mode_ap": ("read", "read_mode_ap", {
        "one": aerospike.POLICY_READ_MODE_AP_ONE,
        "all": aerospike.POLICY_READ_MODE_AP_ALL,
    }),
    "replica": ("read", "replica", {
        "sequence": aerospike.POLICY_REPLICA_SEQUENCE,
        "master": aerospike.POLICY_REPLICA_MASTER,
    }),
}  # fmt: skip


class AerospikeCanary:
    """One client, and the set `<namespace of the workload>-canary` in the server's namespace."""

    package = "aerospike"

    def __init__(self, target: Target) -> None:
        self._place = (str(target.options["namespace"]), f"{target.namespace}-canary")
        self._policies = _resolved(target.policies, target.options)
        self._client = aerospike.client(_config(target, self._policies))

    @staticmethod
    def check(policies: Policies) -> None:
        """Have the client itself say whether it knows the policies; it asks no cluster."""
        foreign = sorted(_NOT_POLICIES & set(policies))
        if foreign:
            raise ConfigurationError(
                f"canary.policies: found {', '.join(foreign)}; wanted what the client itself has, "
                "as max_error_rate, or what an operation has, as read.total_timeout",
                "the inventory's `connection` says where to connect and as whom",
            )
        with socket.socket() as refusing:  # bound and not listening: it refuses at once
            refusing.bind(("127.0.0.1", 0))
            settings = _settings(_resolved(policies, {}))
            try:
                aerospike.client({"hosts": [refusing.getsockname()], **settings}).close()
            except exception.ParamError as error:
                raise ConfigurationError(f"canary.policies: aerospike says: {error.msg}") from error
            except exception.AerospikeError:
                return  # the policies are fine; the server is not there

    @staticmethod
    def code(error: Exception) -> str:
        """Return the client's number of the error."""
        return str(error.code) if isinstance(error, exception.AerospikeError) else ""

    def policies(self) -> dict[str, Any]:
        """Return what was set; the client does not tell its defaults."""
        return self._policies

    def write(self, key: int, value: int) -> None:
        """Put one record; what is in it does not count."""
        self._client.put((*self._place, key), {"value": value})

    def read(self, key: int) -> None:
        """Get it again; `RecordNotFound` where it is not there."""
        self._client.get((*self._place, key))

    def clean(self) -> None:
        """Remove every record that a canary writes."""
        for key in KEYS:
            try:
                self._client.remove((*self._place, key))
            except exception.RecordNotFound:
                continue

    def close(self) -> None:
        """Close the client."""
        self._client.close()


def _resolved(policies: Policies, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies with what the load says of data beneath, constants as their numbers."""
    resolved: dict[str, Any] = {}
    for name, (kind, policy, values) in _SHARED.items():
        if options.get(name) is not None:
            resolved.setdefault(kind, {})[policy] = values[options[name]]
    if options.get("services_alternate"):
        resolved["use_services_alternate"] = True
    for name, value in policies.items():
        if isinstance(value, Mapping):
            own = {each: _constant(f"{name}.{each}", v) for each, v in value.items()}
            resolved[name] = {**resolved.get(name, {}), **own}
        else:
            resolved[name] = _constant(name, value)
    return resolved


def _constant(name: str, value: bool | int | float | str) -> Any:
    if not isinstance(value, str) or not value.isupper():
        return value
    constant = getattr(aerospike, value, None)
    if not isinstance(constant, int):
        raise ConfigurationError(
            f"canary.policies.{name}: found {value!r}, wanted the name of a constant of the "
            "aerospike client, as POLICY_REPLICA_MASTER"
        )
    return constant


def _settings(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies in the places where the client has them."""
    kinds = {name: value for name, value in policies.items() if isinstance(value, Mapping)}
    own = {name: value for name, value in policies.items() if name not in kinds}
    return {**own, "policies": kinds, "validate_keys": True}


def _config(target: Target, policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client's whole configuration; it holds secrets."""
    connection, settings = target.connection, _settings(policies)
    tls = connection.get("tls") or {}
    encrypted = bool(tls.get("enabled"))
    if encrypted and tls.get("insecure_skip_verify"):
        raise ConfigurationError(
            "the aerospike client has no way to accept any certificate (tls.insecure)"
        )
    settings["hosts"] = [_host(each, encrypted) for each in _addresses(connection["uri"])]
    if connection.get("username"):
        settings |= {"user": connection["username"], "password": connection.get("password") or ""}
        mode = _AUTH_MODES[target.options.get("auth_mode") or "internal"]
        settings["policies"] = {**settings["policies"], "auth_mode": mode}
    if encrypted:
        files = {
            "cafile": tls.get("ca_file"),
            "certfile": tls.get("cert_file"),
            "keyfile": tls.get("key_file"),
            "keyfile_pw": tls.get("key_passphrase"),
        }
        settings["tls"] = {"enable": True, **{k: v for k, v in files.items() if v}}
    return settings


def _addresses(uri: str) -> list[str]:
    return uri.removeprefix(_SCHEME).rstrip("/").split(",")


def _host(address: str, encrypted: bool) -> tuple[str, int] | tuple[str, int, str]:
    """Return one address as the client has it; with TLS also the name on its certificate."""
    name, _, port = address.rpartition(":")
    host = (name or address).strip("[]")
    number = int(port) if name else _DEFAULT_PORT
    return (host, number, host) if encrypted else (host, number)
