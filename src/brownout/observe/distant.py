"""Follow a run of another host by the address at which it shows its metrics."""

import time
import urllib.request
from collections.abc import Callable

from brownout.base.errors import ClusterError, RunDirectoryError
from brownout.measure.document import impact_of
from brownout.measure.impact import Impact
from brownout.show.live.board import Board

__all__ = ["DistantRun"]

POLL_S = 0.5
_ASK_S = 5.0
#: It may be busy judging; gone is what is silent for so long.
_SILENT_S = 15.0


class DistantRun:
    """The run at `url`, http://host:port; raises `ClusterError` where none answers there."""

    def __init__(self, url: str) -> None:
        self._url = url.removesuffix("/metrics").rstrip("/") + "/board"
        self._board = Board()
        self._impact: Impact | None = None
        try:
            self._look()
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise ClusterError(
                f"no run shows itself at {url}: {reason}",
                "`brownout observe status` on its host says where; see observe.listen",
            ) from error

    def board(self) -> Board:
        """Return the picture that was seen last."""
        return self._board

    def await_end(self, sleep: Callable[[float], None] = time.sleep) -> Impact | None:
        """Wait until the run is judged and return its impact; None where it is gone without."""
        heard = time.monotonic()
        while self._impact is None and time.monotonic() - heard < _SILENT_S:
            sleep(POLL_S)
            try:
                self._look()
                heard = time.monotonic()
            except OSError:
                continue  # a moment, or for good: `heard` tells
        return self._impact

    def _look(self) -> None:
        from brownout.observe.page import Shown

        with urllib.request.urlopen(self._url, timeout=_ASK_S) as answer:
            text = answer.read()
        try:
            shown = Shown.read(text)
            judged = None if shown.impact is None else impact_of(shown.impact, self._url)
        except (ValueError, RunDirectoryError) as error:
            raise ClusterError(f"{self._url}: not a run of this version of brownout") from error
        self._board, self._impact = shown.board, judged
