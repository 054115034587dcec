"""The primary as an application's driver sees it: when it was lost, and when there was one again.

Of a set that somebody else manages this is the earliest proof of an effect: no process can be
asked. The driver is told of a change by the members at once, and finds a silent one by itself.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import pymongo
from pymongo.monitoring import (
    TopologyClosedEvent,
    TopologyDescriptionChangedEvent,
    TopologyListener,
    TopologyOpenedEvent,
)

from brownout.cluster.model import Cluster
from brownout.cluster.mongodb.access import access

__all__ = ["HEARTBEAT_S", "PrimaryChange", "PrimaryWatch"]

#: How late a change can be seen, where a member falls silent instead of telling it.
HEARTBEAT_S = 0.5
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class PrimaryChange:
    """At `at`, on `time.monotonic()`, the primary was `before` and then `after`; "" for none."""

    at: float
    before: str
    after: str


class PrimaryWatch(TopologyListener):
    """Watches one set by a driver's own monitors, from when it is made until it is closed."""

    def __init__(self, cluster: Cluster) -> None:
        self._noted = threading.Condition()
        self._primary, self._ended = "", False
        self._changes: list[PrimaryChange] = []
        way = access(cluster)
        milliseconds = int(cluster.connection.timeout_s * 1000)
        self._client = pymongo.MongoClient[dict[str, Any]](
            way.uri,
            **way.pymongo(),
            appname="brownout",
            heartbeatFrequencyMS=int(HEARTBEAT_S * 1000),
            connectTimeoutMS=milliseconds,
            event_listeners=[self],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._noted:
            self._ended = True  # the driver forgets the set now, which is no loss
        self._client.close()

    @property
    def changes(self) -> list[PrimaryChange]:
        """Every change that was seen, the oldest first; the first one is the set's discovery."""
        with self._noted:
            return list(self._changes)

    def await_primary(self, within_s: float, stopped: Callable[[], bool]) -> str:
        """Return the primary's address as soon as there is one; "" where there was none in time."""
        self._until(lambda: self._primary != "", within_s, stopped)
        with self._noted:
            return self._primary

    def await_loss(
        self, since: float, within_s: float, stopped: Callable[[], bool]
    ) -> PrimaryChange | None:
        """Return the first loss of a primary after `since`; None where there was none in time."""
        self._until(lambda: self._loss(since) is not None, within_s, stopped)
        with self._noted:
            return self._loss(since)

    def _loss(self, since: float) -> PrimaryChange | None:
        return next((c for c in self._changes if c.before and c.at >= since), None)

    def _until(self, so: Callable[[], bool], within_s: float, stopped: Callable[[], bool]) -> None:
        deadline = time.monotonic() + within_s
        with self._noted:
            while not so() and not stopped() and time.monotonic() < deadline:
                self._noted.wait(_POLL_S)

    # -- pymongo's listener -------------------------------------------------------------------

    def opened(self, event: TopologyOpenedEvent) -> None:
        """Nothing is known yet."""

    def description_changed(self, event: TopologyDescriptionChangedEvent) -> None:
        """Note who is primary by the driver's new picture of the set."""
        servers = event.new_description.server_descriptions()
        primary = next(
            (f"{host}:{port}" for (host, port), server in servers.items()
             if server.server_type_name == "RSPrimary"),
            "",
        )  # fmt: skip
        with self._noted:
            if primary != self._primary and not self._ended:
                self._changes.append(PrimaryChange(time.monotonic(), self._primary, primary))
                self._primary = primary
                self._noted.notify_all()

    def closed(self, event: TopologyClosedEvent) -> None:
        """We closed it; that is no loss."""
