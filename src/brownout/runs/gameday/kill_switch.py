"""The kill switch: end a game day from any shell, have all put back, and prove it by state."""

import time
from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import Refused, RunDirectoryError, UndoFailed
from brownout.base.wait import wait_until
from brownout.run.events import wall_clock
from brownout.runs import repair
from brownout.runs.gameday.days import Day
from brownout.runs.gameday.leases import Lease, Leases
from brownout.runs.gameday.record import verdict_of

__all__ = ["chosen", "stop"]

Say = Callable[[str], None]
POLL_S = 0.1


def chosen(leases: Leases, name: str) -> Lease:
    """Return the one lease that `name` means: a cluster, a game day, its directory, or the only.

    Raises `Refused` where that is not exactly one.
    """
    leases_of_name = [held for held in leases.held() if _names(held, name)]
    if len(leases_of_name) != 1:
        if not leases_of_name:
            named = f" that is named {name!r}" if name else ""
            raise Refused(f"no game day is in progress{named}", "see `brownout gameday status`")
        listed = ", ".join(f"{held.cluster} ({Path(held.day).name})" for held in leases_of_name)
        raise Refused(f"several game days are in progress: {listed}", "name one of them")
    return leases_of_name[0]


def stop(leases: Leases, lease: Lease, reason: str, limit_s: float, say: Say) -> str:
    """End the game day and return in words what state proves; raises `UndoFailed` where it cannot.

    A running one does it itself, on this host or another; what a dead one left is done here.
    """
    began = time.monotonic()
    state = lease.state(leases.now())
    say(f"{lease.holder()}: {state}")
    if state == "running":
        leases.ask_to_stop(lease, reason)
        _await_end(leases, lease, limit_s)
    repair.put_back(lease.cluster, reason, limit_s, say)
    proof = _proof(lease, reason, limit_s, say)
    leases.release(lease)
    return f"{proof}, {time.monotonic() - began:.1f} s after it was asked for"


def _names(held: Lease, name: str) -> bool:
    day = Path(held.day)
    return name in ("", held.cluster, held.day, day.name, day.name.partition("-")[2])


def _await_end(leases: Leases, lease: Lease, limit_s: float) -> None:
    """Wait until the holder has let its lease go, or is dead."""

    def ended() -> bool:
        held = any(each.token == lease.token for each in leases.held())
        return not held or lease.state(leases.now()) == "died"

    if not wait_until(ended, limit_s, POLL_S):
        raise UndoFailed(
            f"{lease.holder()} does not end within {limit_s:.0f} s",
            "kill that process, then `brownout gameday stop` again",
        )


def _proof(lease: Lease, reason: str, limit_s: float, say: Say) -> str:
    """Return what the day itself proved at its end; else prove it, and close its record."""
    try:
        day = Day.open(Path(lease.day))
    except RunDirectoryError as error:
        say(f"{error}; the cluster is looked at by its name")
        return repair.await_whole(lease.cluster, limit_s, say)
    record = day.record
    if record.verdict:
        if record.unmended:
            raise UndoFailed(f"the game day ended, and not all is back: {record.unmended}",
                             f"`brownout heal {lease.cluster}`")  # fmt: skip
        return record.proof or repair.await_whole(record.inventory_file, limit_s, say)
    record.proof = repair.await_whole(record.inventory_file, limit_s, say)
    record.died, record.stopped, record.ended = True, f"it died; {reason}", wall_clock()
    record.verdict = verdict_of(record)
    day.note(f"over: {record.verdict}, {record.stopped}; {record.proof}")
    if record.brought_up:
        repair.take_down(record.cluster, say)
    return record.proof
