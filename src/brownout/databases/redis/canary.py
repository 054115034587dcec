"""redis-py as an application has it: its own defaults, and what the application sets."""

import inspect
import re
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from redis import Connection
from redis.backoff import ExponentialWithJitterBackoff
from redis.cluster import ClusterNode, LoadBalancingStrategy, RedisCluster
from redis.exceptions import ResponseError
from redis.retry import Retry

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings import StrictSettings
from brownout.databases.canary import KEYS, NotFound, Target
from brownout.inventory.canary import Policies

__all__ = ["RedisCanary"]

_Seconds = Annotated[float, Field(gt=0)]
_Count = Annotated[int, Field(ge=0)]


class _Retry(StrictSettings):
    """redis-py's `Retry` with its `ExponentialWithJitterBackoff`."""

    retries: _Count
    base: _Seconds | None = None
    cap: _Seconds | None = None


class _Policies(StrictSettings):
    """What an application sets of `RedisCluster`, in redis-py's names."""

    socket_timeout: _Seconds | None = None
    socket_connect_timeout: _Seconds | None = None
    socket_keepalive: bool | None = None
    protocol: Literal[2, 3] | None = None
    require_full_coverage: bool | None = None
    reinitialize_steps: _Count | None = None
    dynamic_startup_nodes: bool | None = None
    load_balancing_strategy: Annotated[LoadBalancingStrategy, Field(strict=False)] | None = None
    retry: _Retry | None = None

    def given(self) -> dict[str, Any]:
        """Return what was set, as `RedisCluster` takes it."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if self.retry is not None:
            own = self.retry.model_dump(include={"base", "cap"}, exclude_none=True)
            settings["retry"] = Retry(ExponentialWithJitterBackoff(**own), self.retry.retries)
        return settings


class RedisCanary:
    """One cluster client with its pools, and the keys `<namespace>/canary/<number>`."""

    package = "redis"

    def __init__(self, target: Target) -> None:
        self._policies = target.policies
        self._prefix = f"{target.namespace}/canary/"
        given = _Policies.model_validate(target.policies).given()
        self._client = RedisCluster(**_address(target), **given)

    @staticmethod
    def check(policies: Policies) -> None:
        """Say which policies redis-py's cluster client does not have; opens no connection."""
        try:
            _Policies.model_validate(policies)
        except ValidationError as error:
            raise ConfigurationError(
                from_validation(error, _Policies, ("canary", "policies")),
                "the inventory's `connection` says where to connect and as whom",
            ) from error

    @staticmethod
    def code(error: Exception) -> str:
        """Return the first word of the server's error, as `NOPERM`, where redis-py leaves it."""
        match = re.match(r"[A-Z]+(?= )", str(error)) if isinstance(error, ResponseError) else None
        return match[0] if match else ""

    def policies(self) -> dict[str, Any]:
        """Return the policies as they were given, or redis-py's defaults."""
        of_cluster = inspect.signature(RedisCluster.__init__).parameters
        of_connection = Connection()  # type: ignore[no-untyped-call]  # not connected
        usual = {
            name: of_cluster[name].default if name in of_cluster else getattr(of_connection, name)
            for name in _Policies.model_fields
        }
        return {**usual, "retry": {"retries": self._client.retry.get_retries()}, **self._policies}

    def write(self, key: int, value: int) -> None:
        """Set one key; what is in it does not count."""
        self._client.set(f"{self._prefix}{key}", value)

    def read(self, key: int) -> None:
        """Get it again."""
        if self._client.get(f"{self._prefix}{key}") is None:
            raise NotFound

    def clean(self) -> None:
        """Remove the keys that canaries write."""
        for key in KEYS:
            self._client.unlink(f"{self._prefix}{key}")

    def close(self) -> None:
        """Close every connection."""
        self._client.close()


def _address(target: Target) -> dict[str, Any]:
    """Return where to connect and as whom, and the generator's `tls`, in redis-py's words."""
    connection = target.connection
    nodes = [ClusterNode(*at) for at in target.hosts]  # type: ignore[no-untyped-call]
    tls = connection.get("tls") or {}
    encrypted = {
        "ssl": True,
        "ssl_cert_reqs": "none" if tls.get("insecure_skip_verify") else "required",
        "ssl_check_hostname": not tls.get("insecure_skip_verify"),
        "ssl_ca_certs": tls.get("ca_file") or None,
        "ssl_certfile": tls.get("cert_file") or None,
        "ssl_keyfile": tls.get("key_file") or None,
        "ssl_password": tls.get("key_passphrase") or None,
    }
    return {
        "startup_nodes": nodes,
        "username": connection.get("username") or None,
        "password": connection.get("password") or None,
        "client_name": "brownout-canary",
        **(encrypted if tls.get("enabled") else {}),
    }
