"""Waiting for a state, of a cluster, a process or anything else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brownout.base.wait import wait_until
from brownout.databases import milestones
from brownout.databases.adapter import Adapter

__all__ = ["await_true", "await_whole", "state_of"]

PATIENCE_S = 120.0


def await_true(
    holds: Callable[[], Any], what: str = "it", within_s: float = PATIENCE_S, every_s: float = 0.02
) -> None:
    """Wait until it `holds`."""
    assert wait_until(holds, within_s, every_s), f"not within {within_s:g} s: {what}"


def await_whole(adapter: Adapter) -> None:
    """Wait until every member is there and in step."""
    missing = milestones.await_nothing(
        lambda: milestones.unmet(adapter, "whole"), PATIENCE_S, poll_s=0.05
    )
    assert not missing, missing


def state_of(pid: int) -> str:
    """Return what a process does: "R" runs, "S" sleeps, "T" stopped, "Z" dead; "gone" if none.

    Source: proc_pid_stat(5).
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "gone"
