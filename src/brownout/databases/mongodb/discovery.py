"""A replica set as an application's driver sees it: who is primary, which members it has lost.

For a set that a provider manages this is the earliest proof of an effect, as no process can be
asked. The driver is told of a change by the members at once, and finds a silent one by itself: so
it is known when it heard of each for the last time, too.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import pymongo
from pymongo.monitoring import (
    ServerHeartbeatFailedEvent,
    ServerHeartbeatListener,
    ServerHeartbeatStartedEvent,
    ServerHeartbeatSucceededEvent,
    TopologyClosedEvent,
    TopologyDescriptionChangedEvent,
    TopologyListener,
    TopologyOpenedEvent,
)

from brownout.base.wait import wait_until
from brownout.databases.mongodb.access import access
from brownout.inventory.model import Cluster

__all__ = ["MemberLoss", "PrimaryChange", "SetWatch"]

_POLL_S = 0.2
_SERVES = frozenset({"RSPrimary", "RSSecondary"})
Stopped = Callable[[], bool]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PrimaryChange:
    """At `at`, on `time.monotonic()`, the primary was `before` and then `after`; "" for none.

    Where `before` was lost, and did not hand over, that was at `lost` already.
    """

    at: float
    before: str
    after: str
    lost: float


@dataclass(frozen=True, slots=True)
class MemberLoss:
    """`member` served and no longer does, from `at` at the latest, on `time.monotonic()`.

    The driver `noticed` it then or later: of one that fell silent, whose last sign of life was a
    heartbeat before `at` at most.
    """

    at: float
    member: str
    noticed: float


class SetWatch(TopologyListener, ServerHeartbeatListener):
    """Watches one set by a driver's own monitors, from when it is made until it is closed.

    What is seen of a member that lives is `heartbeat_s` seconds old at most.
    """

    heartbeat_s = 0.5

    def __init__(self, cluster: Cluster) -> None:
        self._noted = threading.Condition()
        self._primary, self._ended = "", False
        self._changes: list[PrimaryChange] = []
        self._losses: list[MemberLoss] = []
        self._serving: set[str] = set()
        self._heard: dict[str, float] = {}
        self._tags: dict[str, str] = {}
        way = access(cluster)
        milliseconds = int(cluster.connection.timeout_s * 1000)
        self._client = pymongo.MongoClient[dict[str, Any]](
            way.uri,
            **way.pymongo(),
            appname="brownout",
            heartbeatFrequencyMS=int(self.heartbeat_s * 1000),
            connectTimeoutMS=milliseconds,
            event_listeners=[self],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._noted:
            self._ended = True  # the driver forgets the set now; that is not a loss
        self._client.close()

    @property
    def changes(self) -> list[PrimaryChange]:
        """Every change that was seen, the oldest first; the first one is the set's discovery."""
        with self._noted:
            return list(self._changes)

    @property
    def losses(self) -> list[MemberLoss]:
        """Every loss of a member that was seen, the oldest first."""
        with self._noted:
            return list(self._losses)

    @property
    def primary_tags(self) -> dict[str, str]:
        """The tags of the primary, as `{"region": "US_EAST_1"}`; none where there is no primary."""
        with self._noted:
            return dict(self._tags)

    def await_primary(self, within_s: float, stopped: Stopped) -> str:
        """Return the primary's address as soon as there is one; "" where there was none in time."""
        self._until(lambda: self._primary != "", within_s, stopped)
        with self._noted:
            return self._primary

    def await_loss(self, since: float, within_s: float, stopped: Stopped) -> PrimaryChange | None:
        """Return the first loss of a primary after `since`; None where there was none in time."""
        return self._until(lambda: self._loss(since), within_s, stopped)

    def await_member_loss(
        self, since: float, within_s: float, stopped: Stopped
    ) -> MemberLoss | None:
        """Return the first loss of a member noticed after `since`; None where none was in time."""
        return self._until(lambda: self._member_loss(since), within_s, stopped)

    def await_serving(self, wanted: int, within_s: float, stopped: Stopped) -> float | None:
        """Return when at least `wanted` members served, one of them as primary; None if too late.

        On `time.monotonic()`, as soon as it is so.
        """
        return self._until(
            lambda: time.monotonic() if self._serve(wanted) else None, within_s, stopped
        )

    def await_nobody(self, within_s: float, stopped: Stopped) -> bool:
        """Wait until the driver knows no member that serves; say whether it came to that."""
        return self._until(lambda: not self._serving, within_s, stopped)

    def _loss(self, since: float) -> PrimaryChange | None:
        return next((c for c in self._changes if c.before and c.at >= since), None)

    def _member_loss(self, since: float) -> MemberLoss | None:
        return next((loss for loss in self._losses if loss.noticed >= since), None)

    def _serve(self, wanted: int) -> bool:
        return len(self._serving) >= wanted and self._primary != ""

    def _until(self, look: Callable[[], T], within_s: float, stopped: Stopped) -> T:
        with self._noted:
            return wait_until(look, within_s, _POLL_S, stopped=stopped, pause=self._noted.wait)

    # -- pymongo's listeners ------------------------------------------------------------------

    def opened(self, event: TopologyOpenedEvent) -> None:
        """Nothing is known yet."""

    def description_changed(self, event: TopologyDescriptionChangedEvent) -> None:
        """Note who is primary, and who serves, by the driver's new picture of the set."""
        servers = {
            f"{host}:{port}": server
            for (host, port), server in event.new_description.server_descriptions().items()
        }
        kinds = {name: server.server_type_name for name, server in servers.items()}
        primary = next((name for name, kind in kinds.items() if kind == "RSPrimary"), "")
        with self._noted:
            if self._ended:
                return
            lost = self._note_members({name for name, kind in kinds.items() if kind in _SERVES})
            if primary != self._primary:
                now, before = time.monotonic(), self._primary
                change = PrimaryChange(now, before, primary, lost.get(before, now))
                self._changes.append(change)
                self._primary = primary
                self._tags = dict(servers[primary].tags) if primary else {}
            self._noted.notify_all()

    def _note_members(self, serving: set[str]) -> dict[str, float]:
        """Note who serves now; return when each that no longer does was lost."""
        now = time.monotonic()
        gone = sorted(self._serving - serving)
        lost = {name: min(now, self._heard.get(name, now) + self.heartbeat_s) for name in gone}
        self._losses += [MemberLoss(at, name, now) for name, at in lost.items()]
        self._serving = serving
        return lost

    def closed(self, event: TopologyClosedEvent) -> None:
        """We closed it ourselves; that is not a loss."""

    def started(self, event: ServerHeartbeatStartedEvent) -> None:
        """It is not known yet whether the member answers."""

    def succeeded(self, event: ServerHeartbeatSucceededEvent) -> None:
        """Note the sign of life."""
        host, port = event.connection_id
        with self._noted:
            self._heard[f"{host}:{port}"] = time.monotonic()

    def failed(self, event: ServerHeartbeatFailedEvent) -> None:
        """The picture of the set changes by this, if it changes anything."""
