"""What only a MongoDB replica set can do."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["step_down_primary"]


@activity
def step_down_primary(
    configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Have the primary hand over to another member (`replSetStepDown`): the planned failover.

    The old primary goes on as a secondary, so nothing stays broken.
    """
    session = current()
    return session.faults.step_down(session.node("target"))
