"""Giving a set another configuration, through the primary of that moment.

read ──▶ next document ──▶ replSetReconfig ──▶ a majority has it
  ▲                              │
  └──── another one was first, no primary, no answer: read again ────┘
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from brownout.base.errors import ClusterError, Refused
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.databases.mongodb.membership import Document
from brownout.databases.mongodb.milestones import primary_of
from brownout.databases.mongodb.view import View
from brownout.inventory.model import Cluster

__all__ = ["Changed", "SetConfiguration"]

#: Long enough for an election with MongoDB's own time-outs.
_TIMEOUT_S = 60.0
#: How long we keep asking a set that has no primary or does not answer.
_ELECTED_WITHIN_S = 15.0
#: The server itself waits until a majority has the configuration.
_ORDER_S = 10.0
_POLL_S = 0.1
#: What passes by itself: a race for the version (103), another change under way (109), the last one
#: not at a majority (308) or too few answers (74), the primary gone (189, 10107, 11602, 13435), and
#: the wait for the majority cut short (50).
_PASSING = frozenset({50, 74, 103, 109, 189, 308, 10107, 11602, 13435})


@dataclass(frozen=True, slots=True)
class Changed:
    """What a set's configuration is after a change, and when a majority had it.

    `at` is on `time.monotonic()`, `took_s` since it was first ordered; `already` if nothing was.
    """

    config: Document
    at: float
    took_s: float
    already: bool


class SetConfiguration:
    """The configuration of one set, read from its primary and changed there."""

    def __init__(
        self, cluster: Cluster, links: Mapping[str, Link], views: Callable[[], Sequence[View]]
    ) -> None:
        self._cluster, self._links, self._views = cluster, links, views

    def read(self) -> Document:
        """Return the set's configuration; `ClusterError` if it stays without a primary."""
        config: Document = _patiently(_ELECTED_WITHIN_S)(
            lambda: self._primary().ask("replSetGetConfig")["config"]
        )
        return config

    def change(self, step: Callable[[Document], Document | None]) -> Changed:
        """Give the set what `step` makes of its configuration; None means that it has it already.

        Returns once a majority has it. `step` is asked again whenever the set may have changed.
        """
        ordered: list[float] = []
        config: Document = _patiently(_TIMEOUT_S)(self._once, step, ordered)
        at = time.monotonic()
        return Changed(config, at, at - ordered[0] if ordered else 0.0, already=not ordered)

    def _once(self, step: Callable[[Document], Document | None], ordered: list[float]) -> Document:
        """Order the next configuration if there is one; note when in `ordered`.

        Raises `Refused` where the first order of all is, since nothing has changed then.
        """
        primary = self._primary()
        wanted = step(primary.ask("replSetGetConfig")["config"])
        if wanted is not None:
            ordered.append(time.monotonic())
            try:
                primary.order("replSetReconfig", wanted, _ORDER_S)
            except CommandFailed as error:
                if error.refused and len(ordered) == 1 and error.code not in _PASSING:
                    text = f"the set keeps its configuration: {error.message}"
                    raise Refused(text, error.hint) from error
                raise
        answer = primary.ask("replSetGetConfig", commitmentStatus=True)
        if not answer["commitmentStatus"]:
            raise ClusterError("no majority of the set has its new configuration yet")
        config: Document = answer["config"]
        return config

    def _primary(self) -> Link:
        """Return the link to the primary, whether or not it is the expected one."""
        views = self._views()
        primary = primary_of(views)
        if primary is not None:
            return self._links[primary.node]
        named = {view.hello.get("primary") for view in views}
        for node in self._cluster.every:
            if node.address in named:
                return self._links[node.name]
        states = ", ".join(f"{view.node} is {view.state}" for view in views)
        raise ClusterError(f"the set has no primary now: {states}")


def _patiently(within_s: float) -> Retrying:
    """Retry for `within_s` seconds whatever passes by itself."""
    return Retrying(
        stop=stop_after_delay(within_s),
        wait=wait_fixed(_POLL_S),
        retry=retry_if_exception(_passes),
        reraise=True,
    )


def _passes(error: BaseException) -> bool:
    """Whether it is worth another try: no answer is, an answer only if it says so."""
    if isinstance(error, CommandFailed):
        return error.code in _PASSING
    return isinstance(error, ClusterError)
