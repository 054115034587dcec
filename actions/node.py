"""Break or mend one node. `node` is `target`, the node chosen when the run began, or a name.

Every action writes its intent before it acts, proves its effect, and returns the evidence:
`{"node": "n1", "effective": 20.412, "evidence": {"pid": 4711, "gone": true}}` with the time of
effect in seconds since the load began. Each is safe to repeat: what is already so stays so.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import ConfigurationError, UndoFailed
from brownout.session.activity import activity
from brownout.session.current import current, is_open

__all__ = [
    "delay_node",
    "heal_partition",
    "kill_node",
    "partition_node",
    "pause_node",
    "put_back",
    "reboot_node",
    "resume_node",
    "start_node",
    "stop_node",
    "undelay_node",
    "wipe_node",
]


@activity
def stop_node(
    node: str = "target",
    mode: str = "clean",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop `node` and wait until its process is gone. Undone by `start_node`.

    `mode` is `clean` (SIGTERM) or `kill` (SIGKILL).
    """
    if mode not in ("clean", "kill"):
        raise ConfigurationError(f"mode: found {mode!r}, wanted clean or kill")
    session = current()
    return session.faults.stop(session.node(node), "kill" if mode == "kill" else "clean")


@activity
def kill_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Kill `node` (SIGKILL) and wait until its process is gone. Undone by `start_node`."""
    session = current()
    return session.faults.stop(session.node(node), "kill")


@activity
def pause_node(
    node: str = "target",
    undo_after_s: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Freeze the process of `node` (SIGSTOP): it hangs, as on a stalled disk. See `resume_node`.

    After `undo_after_s` seconds the node lets it go on by itself, even if this run has died or
    its way to the node is cut: choose it longer than the pause that is meant. 0 takes the
    inventory's, which is 120 unless it says otherwise.
    """
    session = current()
    return session.faults.pause(session.node(node), float(undo_after_s) or None)


@activity
def resume_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Let a paused `node` go on (SIGCONT). Does nothing to a node that runs."""
    session = current()
    return session.faults.resume(session.node(node))


@activity
def partition_node(
    node: str = "target",
    undo_after_s: float = 0.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Cut `node` off from the other members; clients still reach it. See `heal_partition`.

    After `undo_after_s` seconds it joins them again by itself, even if this run has died: choose
    it longer than the partition that is meant. 0 takes 120. Only where the node has a network
    namespace to itself, as in lab-mongodb-partition.
    """
    session = current()
    return session.faults.partition(session.node(node), float(undo_after_s) or None)


@activity
def heal_partition(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Let `node` reach the other members again. Does nothing to a node that does."""
    session = current()
    return session.faults.heal_partition(session.node(node))


@activity
def delay_node(
    node: str = "target",
    latency_ms: int = 50,
    jitter_ms: int = 0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Have what `node` sends arrive `latency_ms`, plus or minus `jitter_ms`, later.

    Undone by `undelay_node`. Only where the lab made a way for it, as lab-mongodb-slow does: by
    the kernel's netem where there is one, else by a toxiproxy in front of the node. The evidence
    says `by` which.
    """
    session = current()
    return session.faults.delay(session.node(node), int(latency_ms), int(jitter_ms))


@activity
def undelay_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Have what `node` sends arrive as before. Does nothing to a node that is not slowed."""
    session = current()
    return session.faults.undelay(session.node(node))


@activity
def wipe_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Empty the data directories that the own configuration of `node` names, and prove it.

    Refuses unless the inventory says `allow_data_loss: true`, the node is proven stopped, and the
    cluster was whole and redundant before. There is no undo: `start_node` lets the database fill
    the node again from the others.
    """
    session = current()
    return session.faults.wipe(session.node(node))


@activity
def start_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Start `node` and wait until its process runs. Does nothing to a node that runs."""
    session = current()
    return session.faults.start(session.node(node))


@activity
def reboot_node(
    node: str = "target", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Reboot the machine of `node`. A plain process has none: recorded as skipped."""
    session = current()
    return session.faults.reboot(session.node(node))


@activity
def put_back(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Undo whatever this run broke and has not mended: the rollback of every experiment.

    Returns the nodes it mended, `{"mended": {"n1": "start_node"}}`; every node is tried even if
    one fails, and what could not be undone is named.
    """
    if not is_open() or not current().may_have_broken:
        return {"mended": {}}
    session = current()
    broken = session.faults.broken
    failures = session.faults.put_back()
    if failures:
        raise UndoFailed("; ".join(failures), "mend the nodes named here by hand")
    return {"mended": broken}
