"""What only etcd can do."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["move_leader"]


@activity(steps=("brownout.actions.mongodb.step_down_primary",))
def move_leader(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Have the leader hand over to the follower that has applied most (`MoveLeader`).

    It is the planned failover of `experiments/stepdown.json`; the old leader becomes a follower.
    """
    session = current()
    return session.faults.run("step_down_primary", session.node("target"))
