"""Break a whole rack: every node that `target` means, which is more than one with `target: rack`.

The inventory says which node is in which `rack`, and `guards.max_nodes_down` whether as many may
be down at once.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["kill_rack", "start_rack"]


@activity(told="kill every node of the rack of {}", acts=["kill_node"], on="targets")
def kill_rack(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Kill every target (SIGKILL), one right after the other. Undone by `start_rack`.

    All of them are judged by the guards before the first is touched.
    """
    session = current()
    return {"nodes": session.faults.run_together("kill_node", session.targets)}


@activity(told="start every node of that rack", acts=["start_node"], on="targets")
def start_rack(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Start every target and wait until its process runs."""
    session = current()
    return {"nodes": [session.faults.run("start_node", node) for node in session.targets]}
