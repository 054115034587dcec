"""What only a Redis Cluster can do."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["move_slots"]


@activity
def move_slots(
    node: str = "target",
    slots: int = 1000,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Move so many `slots` of `node`, a master, with their keys to the master that has the fewest.

    One after the other, while the cluster serves, as `redis-cli --cluster reshard` does. Refused
    while other slots move, and where `node` would be left without any. The rollback moves them
    back.
    """
    session = current()
    value = f"-{int(slots)}"
    return session.faults.run("adjust", session.node(node), setting="slots", value=value)
