"""Follow a run from another process, by its directory: the work of `brownout watch`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from brownout.observe.compose import RunFacts, compose
from brownout.show.live.board import Board
from brownout.show.live.files import RunFiles

if TYPE_CHECKING:
    from brownout.faults.open_runs import Claim

__all__ = ["Follower"]

POLL_S = 0.5


class Follower:
    """One run directory; `board` is the picture now, `await_end` returns when the run is over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = RunFiles(path)

    def board(self) -> Board:
        """Return the picture of this moment, as far as it is on the disk."""
        return compose(
            RunFacts(
                record=self._files.record(),
                events=self._files.events(),
                series=self._files.series(),
                causes=self._files.causes(),
                percentiles_ms=self._files.percentiles_ms(),
            )
        )

    def await_end(self, sleep: Callable[[float], None] = time.sleep) -> bool:
        """Wait until the run is over; say whether it ended by itself, not by dying."""
        claim = self._claim()
        while claim is not None and claim.is_alive():
            sleep(POLL_S)
            if self._claim() is None and self._is_judged():
                return True
        while claim is None and self._is_loading():
            sleep(POLL_S)
        return self._claim() is None

    def _claim(self) -> "Claim | None":
        """The hold on a cluster that the run has as long as it may have broken something."""
        from brownout.faults import open_runs

        here = self.path.resolve()
        return next((c for c in open_runs.claims() if Path(c.run) == here), None)

    def _is_judged(self) -> bool:
        """Whether the result is there: it is made once more after the journal was written."""
        journal, impact = self.path / "journal.json", self.path / "impact.json"
        try:
            return impact.stat().st_mtime_ns >= journal.stat().st_mtime_ns
        except OSError:
            return False

    def _is_loading(self) -> bool:
        """A load may hold no claim, as in a search: its generator shows whether it runs."""
        from brownout.machine import procfs

        if (self.path / "run.json").exists():
            return False
        processes = [procfs.identify(pid) for pid in procfs.users_of(self.path)]
        return any(
            Path(user.command[0]).name == "loadgen" for user in processes if user is not None
        )
