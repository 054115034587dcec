"""Between runs: put back what a dead one had broken, and see that a cluster is whole."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import ClusterError, UndoFailed
from brownout.base.wait import wait_until
from brownout.faults import heal, open_runs
from brownout.faults.open_runs import Claim
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.session.stop_conditions import ask_to_stop

__all__ = ["await_whole", "await_whole_or_take_down", "claim_on", "keep_logs", "put_back"]
__all__ += ["take_down"]

Say = Callable[[str], None]
POLL_S = 0.1


def claim_on(cluster: str) -> Claim | None:
    """Return the hold that a run of this machine, living or dead, has on `cluster`."""
    return open_runs.claim_on(cluster)


def put_back(cluster: str, reason: str, limit_s: float, say: Say) -> None:
    """End the run in progress and heal what a dead one left on `cluster`; nothing to do is fine.

    Raises `UndoFailed` where something is still broken after `limit_s` seconds.
    """
    deadline = time.monotonic() + limit_s
    claim = claim_on(cluster)
    if claim is not None and claim.is_alive():
        say(f"the run {claim.run} (process {claim.pid}) is still running; it is told to stop")
        ask_to_stop(claim, reason)
        claim = wait_until(lambda: claim_on(cluster), limit_s, POLL_S, so=_is_over)
    if claim is not None and claim.is_alive():
        raise UndoFailed(
            f"the run {claim.run} (process {claim.pid}) does not end within {limit_s:.0f} s",
            f"kill that process, then `brownout heal {cluster}`",
        )
    if claim is not None:
        say(f"the run {claim.run} died; what it had broken is put back")
        healed = heal.heal(claim, max(1.0, deadline - time.monotonic()), say)
        mended = ", ".join(f"{mend} {node}" for node, mend in healed.mended.items()) or "nothing"
        say(f"put back: {mended}")


def await_whole(name_or_path: str, limit_s: float, say: Say) -> str:
    """Wait until the cluster is whole and say so, with its members; a lab that is down has none.

    Raises `UndoFailed` with what is still missing after `limit_s` seconds.
    """
    try:
        cluster = inventory.load(name_or_path)
    except ClusterError as error:
        return f"{error.message}, so nothing of it is broken"
    heal.await_whole(cluster, limit_s, say)
    members = ", ".join(node.name for node in cluster.nodes)
    return f"cluster `{cluster.name}` is whole: {members} are there and in step"


def await_whole_or_take_down(name_or_path: str, limit_s: float, say: Say, keep: Path) -> bool:
    """Wait until the cluster is whole; take down a lab that does not become so, and return False.

    The ends of its nodes' logs stay below the directory `keep`. Raises `UndoFailed` with what is
    still missing of any other cluster.
    """
    declared = inventory.declared(name_or_path)
    try:
        await_whole(name_or_path, limit_s, say)
    except UndoFailed as error:
        if declared.lab is None:
            raise
        say(f"{error.message}; rebuilding the lab")
        keep_logs(declared.name, keep, say)
        lab.down(declared, progress=say)
        return False
    return True


def keep_logs(cluster: str, keep: Path, say: Say) -> None:
    """Write the ends of a lab's logs below `keep`/lab-logs, without secrets.

    A lab that is down has none. What cannot be written is said, and nothing is raised.
    """
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    directory = keep / "lab-logs" / f"{now}-{cluster}"
    try:
        lab.keep_logs(cluster, directory)
    except (ClusterError, OSError) as error:
        say(f"its logs are not kept: {error}")
        return
    say(f"the ends of its logs are in {directory}")


def take_down(cluster: str, say: Say) -> None:
    """Take a lab down that was brought up for several runs."""
    say(f"taking down {cluster}, which was brought up for these runs")
    lab.down(cluster)


def _is_over(claim: Claim | None) -> bool:
    return claim is None or not claim.is_alive()
