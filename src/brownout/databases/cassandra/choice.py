"""Which nodes a target selects; every node that serves is a `primary`."""

from brownout.base.errors import ConfigurationError
from brownout.databases.choice import Targets
from brownout.inventory.model import Cluster

__all__ = ["TARGETS", "check"]

TARGETS = Targets(secondary="random")


def check(select: str, cluster: Cluster) -> None:
    """Raise `ConfigurationError` if `select` can match no node of `cluster`."""
    if select.removeprefix("role=").partition("@")[0] == "secondary":
        raise ConfigurationError(
            f"target: found {select!r}, wanted another one: every node of Cassandra accepts "
            "writes, so none is a secondary",
            "`random`, or `primary`, is one of all that serve",
        )
    TARGETS.check(select, cluster)
