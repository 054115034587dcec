"""Metrics of the game days that a server of schedules serves; `docs/metrics.md` has them all."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from brownout.runs.gameday.freshness import freshness
from brownout.runs.gameday.record import Record
from brownout.runs.gameday.schedules import next_times
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.watch_log import WatchLog

__all__ = ["GameDayCollector"]

_DAY = ("gameday", "cluster")


class GameDayCollector(Collector):
    """Makes the metrics of some game days from the records of all of them, the latest last."""

    def __init__(
        self,
        gamedays: Sequence[GameDay],
        past: Callable[[], Sequence[Record]],
        log: WatchLog,
    ) -> None:
        self._gamedays, self._past, self._log = gamedays, past, log

    def collect(self) -> Iterator[Metric]:
        """Yield every metric; what never happened has no time."""
        past, now = list(self._past()), datetime.now(UTC)
        days = CounterMetricFamily(
            "brownout_gameday_ended", "Game days that ended, by verdict.", labels=(*_DAY, "verdict")
        )
        missed = CounterMetricFamily(
            "brownout_gameday_missed", "Times at which none was started.", labels=_DAY
        )
        last_missed = GaugeMetricFamily(
            "brownout_gameday_last_missed_time_seconds",
            "When the last missed time was noticed.",
            labels=_DAY,
        )
        last_died = GaugeMetricFamily(
            "brownout_gameday_last_died_time_seconds",
            "When the last death of one was noticed.",
            labels=_DAY,
        )
        next_due = GaugeMetricFamily(
            "brownout_gameday_next_due_time_seconds", "When it is due next.", labels=_DAY
        )
        stale = GaugeMetricFamily(
            "brownout_gameday_pass_stale",
            "1 where the last pass is missing or older than `freshness`.",
            labels=(*_DAY, "experiment"),
        )
        passed = GaugeMetricFamily(
            "brownout_gameday_last_pass_time_seconds",
            "When it last passed.",
            labels=(*_DAY, "experiment"),
        )
        for gameday in self._gamedays:
            own = (gameday.name, gameday.cluster)
            ours = [record for record in past if (record.name, record.inventory) == own]
            verdicts = Counter(record.verdict for record in ours if record.verdict)
            for verdict in ("pass", "fail", "inconclusive", "aborted", "died", "not put back"):
                days.add_metric((*own, verdict), verdicts[verdict])
            path = str(gameday.path.resolve())
            slot = self._log.missed.get(path, {})
            missed.add_metric(own, slot.get("count", 0.0))
            if "noticed" in slot:
                last_missed.add_metric(own, slot["noticed"])
            deaths = [_noticed(record) for record in ours if record.died]
            if path in self._log.died:
                deaths.append(self._log.died[path])
            if deaths:
                last_died.add_metric(own, max(deaths))
            for due in next_times(gameday.schedule, now, 1) if gameday.schedule else ():
                next_due.add_metric(own, due.timestamp())
            for entry in freshness(gameday, past, now):
                stale.add_metric((*own, entry.name), float(entry.stale))
                if entry.passed is not None:
                    passed.add_metric((*own, entry.name), entry.passed.timestamp())
        yield from (days, next_due, missed, last_missed, last_died, stale, passed)


def _noticed(record: Record) -> float:
    """Return when it was noticed that a day had died; records of before have no such time."""
    return datetime.fromisoformat(record.ended or record.began).timestamp()
