"""One request to Atlas, from when it is sent until all of it is done.

    sent ──▶ begins: a driver lost a member ──▶ applied: Atlas says that it is done

Atlas answers at once and acts minutes later, so its answer does not prove an effect.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brownout.base.errors import ClusterError, ordering
from brownout.base.wait import wait_until
from brownout.inventory.atlas import AtlasSpec, is_loopback
from brownout.machine.host import Proof

if TYPE_CHECKING:
    from brownout.atlas.client import AtlasClient
    from brownout.databases.mongodb.discovery import MemberLoss, PrimaryChange, SetWatch

__all__ = ["FIND_S", "Limits", "Request", "already", "gaps"]

#: How often the API is asked: its calls are counted, those to a lab on this machine are not.
_ASK_S, _ASK_LAB_S = 5.0, 0.5
#: How long a driver may need to find the set, or its new primary.
FIND_S = 30.0
Stopped = Callable[[], bool]


def already(why: str) -> Proof:
    """Return that nothing had to be asked for, and what was found."""
    return Proof(time.monotonic(), 0.0, {"found": why}, already=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long Atlas may take, in seconds: until it begins, and from then on until it is done."""

    begins_within_s: float
    done_within_s: float


class Request:
    """What was asked of one cluster, with what a driver sees of it meanwhile."""

    def __init__(
        self,
        spec: AtlasSpec,
        client: "AtlasClient",
        watch: "SetWatch",
        limits: Limits,
        stopped: Stopped,
    ) -> None:
        self.client, self.watch, self.limits, self._stopped = client, watch, limits, stopped
        self._ask_s = _ASK_LAB_S if is_loopback(spec.base_url) else _ASK_S
        self._sent = time.monotonic()

    def send(self, ask: Callable[[], object]) -> None:
        """Send it; times are counted from here."""
        self._sent = time.monotonic()
        with ordering("the request to Atlas has no effect"):
            ask()

    def primary_lost(self) -> Proof:
        """Return when a driver lost the primary; `ClusterError` where it stayed."""
        loss = self.watch.await_loss(self._sent, self.limits.begins_within_s, self._stopped)
        if loss is None:
            raise self._too_late("the primary is the same")
        return self._proof(loss.at, self.watch.heartbeat_s, primary=loss.before)

    def member_lost(self, done: Callable[[], bool] = lambda: False) -> Proof:
        """Return when a driver lost the first member.

        Where Atlas was seen at work and is `done`, and no member was lost, it came unnoticed
        between the request and now. Raises `ClusterError` where neither happens in time.
        """
        at_work = False

        def lost(within_s: float) -> "MemberLoss | None":
            return self.watch.await_member_loss(self._sent, within_s, self._stopped)

        def look() -> Proof | None:
            nonlocal at_work
            if loss := lost(0.0):
                at = max(loss.at, self._sent)
                late = round(loss.noticed - at, 3)
                return self._proof(
                    at, self.watch.heartbeat_s, member=loss.member, noticed_after_s=late
                )
            idle = self.is_idle()
            if at_work and idle and done():
                now = time.monotonic()
                return self._proof(now, now - self._sent, member=None)
            at_work = at_work or not idle
            return None

        left_s = self._sent + self.limits.begins_within_s - time.monotonic()
        proof = wait_until(look, left_s, self._ask_s, stopped=self._stopped, pause=lost)
        if proof is None:
            raise self._too_late("no member was lost")
        return proof

    def serving(self, members: int) -> Proof:
        """Return when a driver saw that `members` serve again, with a primary."""
        at = self.watch.await_serving(members, self.limits.begins_within_s, self._stopped)
        if at is None:
            raise self._too_late(f"{members} members with a primary are not seen")
        return self._proof(at, self.watch.heartbeat_s, members=members)

    def is_idle(self) -> bool:
        """Whether Atlas has nothing left to do."""
        if self.client.status().change_status != "APPLIED":
            return False
        return self.client.cluster().state_name == "IDLE"

    def applied(self) -> dict[str, Any]:
        """Wait until Atlas has nothing left to do; return what a driver saw from request to end."""
        self.until(self.is_idle, "Atlas has not finished")
        return self.seen_with_primary()

    def until(self, so: Callable[[], bool], otherwise: str) -> None:
        """Wait until it is `so`, as the API says; `ClusterError` where it is not in time."""
        limit_s = self.limits.done_within_s
        if wait_until(so, limit_s, self._ask_s, stopped=self._stopped):
            return
        if self._stopped():
            raise ClusterError(f"{otherwise}, and the run was stopped")
        raise ClusterError(f"{otherwise} within {limit_s:.0f} s", "look at it in Atlas")

    def seen_with_primary(self) -> dict[str, Any]:
        """Return what `seen` does, once a driver knows a primary: it may learn of it last."""
        self.watch.await_primary(FIND_S, self._stopped)
        return self.seen()

    def seen(self) -> dict[str, Any]:
        """Return how long it took, which members were lost on the way, and who was primary.

        {"finished_after_s": 24.1, "lost": ["h2:27017", …], "primaries": ["h3:27017"],
         "without_primary_s": 0.812}    the longest time from a primary's loss to the next one
        """
        changes = [change for change in self.watch.changes if change.at >= self._sent]
        losses = [loss for loss in self.watch.losses if loss.noticed >= self._sent]
        return {
            "finished_after_s": round(time.monotonic() - self._sent, 3),
            "lost": list(dict.fromkeys(loss.member for loss in losses)),
            "primaries": [change.after for change in changes if change.after],
            "without_primary_s": round(max(gaps(changes), default=0.0), 3),
        }

    def _proof(self, at: float, uncertainty_s: float, **seen: Any) -> Proof:
        return Proof(at, uncertainty_s, {"began_after_s": round(at - self._sent, 3), **seen})

    def _too_late(self, still: str) -> ClusterError:
        ended = "when the run was stopped, " if self._stopped() else ""
        return ClusterError(
            f"Atlas took the request, and {still} {ended}after "
            f"{time.monotonic() - self._sent:.0f} s",
            "it may still begin: look at the cluster before anything else is broken",
        )


def gaps(changes: "Sequence[PrimaryChange]") -> list[float]:
    """Return for how long there was no primary, each time that another one followed."""
    lengths, since = [], None
    for change in changes:
        since = change.lost if change.before else since
        if change.after and since is not None:
            lengths.append(change.at - since)
            since = None
    return lengths
