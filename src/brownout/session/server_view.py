"""The servers' view of a run: what Prometheus has of the baseline and of the fault."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brownout.base.errors import ConfigurationError
from brownout.observe.windows import compared, single, summed_up

if TYPE_CHECKING:
    from brownout.observe.source import Samples, Source
    from brownout.observe.state import RunState

__all__ = ["ServerView"]

Answer = dict[str, Any]
Window = tuple[float, float]


class ServerView:
    """Answers the Prometheus probes. `state` is what is known of the run now, `baseline_s` how
    long its baseline is and `gap_s` how long before the fault it ends."""

    def __init__(
        self,
        source: Callable[[], "Source"],
        state: Callable[[], "RunState"],
        baseline_s: float,
        gap_s: float,
    ) -> None:
        self._source, self._state = source, state
        self._baseline_s, self._gap_s = baseline_s, gap_s

    def now(self, query: str) -> Answer:
        """Return the value of `query` at this moment."""
        return _about(query, single(self._source().query(query)))

    def during(self, query: str, statistic: str, step_s: float) -> Answer:
        """Return `statistic` of `query` from the first effect until the load was stopped."""
        window = self._fault()
        if window is None:
            return _about(query, _NOT_YET)
        return _about(query, self._over(query, window, statistic, step_s))

    def compared(self, query: str, statistic: str, step_s: float) -> Answer:
        """Return how much lower `query` was during the fault than in the baseline, a ratio."""
        window = self._fault()
        if window is None:
            return _about(query, _NOT_YET)
        end = window[0] - self._gap_s
        before = self._over(query, (end - self._baseline_s, end), "median", step_s)
        during = self._over(query, window, statistic, step_s)
        return _about(query, compared(before, during))

    def _over(self, query: str, window: Window, statistic: str, step_s: float) -> Answer:
        start, end = window
        if not 0 < step_s <= end - start:
            raise ConfigurationError(
                f"step_s: found {step_s:g}, wanted more than 0 and at most the window's "
                f"{end - start:.0f} s"
            )
        samples: Sequence[Samples] = self._source().query_range(query, start, end, step_s)
        return summed_up(samples, statistic, int((end - start) / step_s) + 1)

    def _fault(self) -> Window | None:
        """From the first effect until the load was stopped, in Unix time; None before that."""
        state = self._state()
        starts = [fault.start for fault in state.faults()]
        phases = {e.name: e.requested for e in state.events if e.type == "phase"}
        stopped, began = phases.get("load_stopped"), state.started_at
        if not starts or stopped is None or began is None:
            return None
        return began + min(starts), began + stopped


_NOT_YET: Mapping[str, Any] = {"value": None, "status": "not_applicable"}


def _about(query: str, answer: Mapping[str, Any]) -> Answer:
    return {**answer, "query": query}
