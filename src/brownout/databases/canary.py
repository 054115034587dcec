"""The official Python client of a database, used as an application uses it: what a canary needs.

A database has one where its `Database` names it. It is made and used in a process of its own
(`brownout.load.canary.process`), where it may block, hang or die.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from brownout.base.errors import ConfigurationError
from brownout.base.settings import host_and_port
from brownout.inventory.canary import Policies
from brownout.inventory.database import databases

__all__ = ["KEYS", "Canary", "CanaryKind", "NotFound", "Target", "canary_kind"]

#: The keys of its own that a canary reads and writes, one after the other.
KEYS = range(64)


class NotFound(Exception):
    """A record that the canary wrote is not there, and its client has no error for that."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where and how a client connects.

    `connection` and `options` are what the load generator gets (`Adapter.load_spec`, with the
    workload's options), `namespace` is the workload's, `policies` are the application's own.
    """

    connection: Mapping[str, Any] = field(repr=False)
    options: Mapping[str, Any]
    namespace: str
    policies: Policies

    @property
    def hosts(self) -> list[tuple[str, int]]:
        """The host and port of each node that the connection's URI names."""
        addresses = self.connection["uri"].partition("://")[2].split(",")
        return [host_and_port(address) for address in addresses]


class Canary(Protocol):
    """A connected client. `read` and `write` raise whatever the client raises; threads share it."""

    def policies(self) -> dict[str, Any]:
        """Return the policies in effect, as far as the client tells them; no secret."""
        ...

    def write(self, key: int, value: int) -> None:
        """Write one record of the canary's own."""
        ...

    def read(self, key: int) -> None:
        """Read that record; where it is not there, the client's own error or `NotFound`."""
        ...

    def clean(self) -> None:
        """Remove every record that a canary wrote, and nothing else."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class CanaryKind(Protocol):
    """What the entry point names: makes a client, and knows which policies there are."""

    #: The package of the client, as it is installed.
    package: str

    def __call__(self, target: Target) -> Canary:
        """Connect; raises what the client raises."""
        ...

    def check(self, policies: Policies) -> None:
        """Raise `ConfigurationError` for a policy that the client does not have."""
        ...

    def code(self, error: Exception) -> str:
        """Return the client's own number of an error, or an empty text."""
        ...


def canary_kind(name: str) -> CanaryKind:
    """Return the canary of a database; `ConfigurationError` if there is none."""
    kinds = {each: one for each, one in databases().items() if one.canary}
    if name not in kinds:
        raise ConfigurationError(
            f"canary: found the database {name!r}, wanted one that has a canary: "
            f"{', '.join(kinds) or 'none'}",
            "run without it: `--set canary=false`, with `chaos run` `--var`",
        )
    kind: CanaryKind = kinds[name].referred(kinds[name].canary)
    return kind
