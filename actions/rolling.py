"""Restart a whole cluster, node by node, as for an upgrade."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session import rolling_restart
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["restart_each_node"]


@activity(
    told="stop and start every node, one after the other",
    acts=["stop_node", "start_node"],
    on="members",
)
def restart_each_node(
    quiesced: bool = False,
    down_s: float = 2.0,
    timeout_s: float = 300.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop each node cleanly for `down_s` seconds, the primary last, and start it again.

    The next one is touched only when redundancy is back, within `timeout_s` seconds, and the load
    has held; so each node is a fault of its own, with its own measures. With `quiesced` each node
    is quiesced and idle before it stops (Aerospike Enterprise).
    """
    wanted = str(quiesced).lower() == "true"
    return rolling_restart.restart_each(current(), wanted, float(down_s), float(timeout_s))
