"""What is looked at in the cluster from the first break on: its milestones, and what it moves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brownout.databases.adapter import Adapter, Electing
from brownout.databases.resize import Resizing
from brownout.session.balance_watch import BalanceWatch
from brownout.session.milestones import Crossing, MilestoneWatcher
from brownout.session.primary_watch import PrimaryWatch
from brownout.session.trail import Trail

__all__ = ["ClusterWatch"]


class ClusterWatch:
    """Watches one cluster for one run, and writes down what it sees."""

    def __init__(
        self,
        adapter: Adapter,
        trail: Trail,
        is_mended: Callable[[], bool],
        aborted: Callable[[], bool],
        hold_s: float,
        is_blind: Callable[[], bool] = lambda: False,
    ) -> None:
        self._adapter, self._trail, self._aborted = adapter, trail, aborted
        self._milestones = MilestoneWatcher(adapter, is_mended, trail.crossed, hold_s, is_blind)
        self._balance: BalanceWatch | None = None
        self._primaries: PrimaryWatch | None = None

    def watch_balance(
        self, path: Path, clock: Callable[[], float | None], say: Callable[[str], None]
    ) -> None:
        """Look at what the nodes hold from now on, where the database can tell."""
        if isinstance(self._adapter, Resizing):
            self._balance = BalanceWatch(self._adapter, path, clock, say)
            self._balance.start()

    def watch_primaries(self, path: Path, to_t: Callable[[float | None], float | None]) -> None:
        """Ask each node from the first break on whether it accepts writes, where one is elected."""
        if isinstance(self._adapter, Electing):
            self._primaries = PrimaryWatch(self._adapter.candidates(), path, to_t)

    def before_break(self) -> None:
        """Watch the milestones from before a break on, and who is primary.

        A break before redundancy is back belongs to the fault that is watched already.
        """
        if self._primaries is not None:
            self._primaries.start()
        if self.is_redundant or not self._milestones.watching:
            self._milestones.arm()
            self._milestones.start()

    def claimed(self, node: str, since: float, until: float) -> bool | None:
        """Return whether `node` last said between two times that it is primary; None for nothing.

        The times are monotonic.
        """
        return None if self._primaries is None else self._primaries.claimed(node, since, until)

    @property
    def is_redundant(self) -> bool:
        """Whether redundancy is back after the latest fault."""
        return self._milestones.passed("redundant")

    def await_milestone(self, name: str, timeout_s: float) -> dict[str, Any] | None:
        """Wait until the cluster reaches milestone `name`; None where it did not in time."""
        crossing = self._milestones.wait(name, timeout_s)
        if crossing.first_yes is None and not self._milestones.passed(name):
            self._miss(crossing, timeout_s)
            return None
        return {"state": name, **self._trail.bracket(crossing)}

    def crossing(self, name: str) -> Crossing:
        """Return where milestone `name` stands since the latest fault began."""
        return self._milestones.crossing(name)

    def await_redundancy(self, limit_s: float, stopped: Callable[[], bool]) -> None:
        """Wait until redundancy is back; that it is not within `limit_s` is written down."""
        crossing = self._milestones.wait("redundant", limit_s, stopped)
        if crossing.first_yes is None:
            self._miss(crossing, limit_s)

    def load_ends(self) -> None:
        """What was reached until now stays so; what was not is still watched for."""
        if self.is_redundant:
            self._milestones.stop()

    def stop(self) -> None:
        """Stop looking."""
        self._milestones.stop()
        for watch in (self._balance, self._primaries):
            if watch is not None:
                watch.stop()

    def _miss(self, crossing: Crossing, limit_s: float) -> None:
        if not self._aborted():
            self._trail.missed(crossing, limit_s)
