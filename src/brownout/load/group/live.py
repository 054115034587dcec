"""Add up the live figures of several generators. Pure.

Rows of one specification come in one order, bucket by bucket, so the rows of all generators are
added one by one; a row is given on once every generator has said its own.
"""

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final

from brownout.base.errors import GeneratorError
from brownout.run.table import SERIES_COLUMNS

__all__ = ["LiveSum"]

Event = Mapping[str, Any]
_HEAD: Final = 3
_LONGEST: Final = _HEAD + SERIES_COLUMNS.index("max_us")
_TABLES: Final = ("series", "outcomes")


class LiveSum:
    """Takes the `live` events of `parts` generators. Not safe for several threads at a time."""

    def __init__(self, parts: int) -> None:
        self._rows = {
            table: [deque[list[Any]]() for _ in range(parts)] for table in _TABLES
        }  # fmt: skip
        self._latest: list[Event | None] = [None] * parts
        self._spoken: set[int] = set()
        self._causes: Counter[str] = Counter()

    def feed(self, part: int, event: Event) -> dict[str, Any] | None:
        """Take an event of one generator; return one of all together once each has spoken.

        Counts are sums. Percentiles cannot be added: `p50_us` and `p99_us` are the largest of all,
        which those of all together do not exceed. Raises `GeneratorError` where rows do not match.
        """
        for table in _TABLES:
            self._rows[table][part].extend(event[table])
        self._causes.update(event["causes"])
        self._latest[part] = event
        self._spoken.add(part)
        if len(self._spoken) < len(self._latest):
            return None
        self._spoken.clear()
        return self._together()

    def _together(self) -> dict[str, Any]:
        latest = [event for event in self._latest if event is not None]
        lanes: Counter[str] = Counter()
        for event in latest:
            lanes.update(event["lanes"])
        causes, self._causes = self._causes, Counter()
        return {
            "event": "live",
            "t": min(float(event["t"]) for event in latest),
            **{table: self._added(table) for table in _TABLES},
            "causes": dict(causes),
            **{name: _largest(latest, name) for name in ("p50_us", "p99_us", "lag_p99_ms")},
            "missed": sum(int(event["missed"]) for event in latest),
            "in_flight": sum(int(event["in_flight"]) for event in latest),
            "lanes": dict(lanes),
        }

    def _added(self, table: str) -> list[list[Any]]:
        """Take the rows that every generator has, and add them up."""
        queues = self._rows[table]
        ready = min(len(queue) for queue in queues)
        return [_sum([queue.popleft() for queue in queues]) for _ in range(ready)]


def _sum(rows: list[list[Any]]) -> list[Any]:
    heads = [row[:_HEAD] for row in rows]
    if any(head != heads[0] for head in heads):
        raise GeneratorError(
            f"the generators' live rows do not match: {heads}; wanted the same bucket, stream and "
            "operation of each"
        )
    added = [sum(column) for column in zip(*(row[_HEAD:] for row in rows), strict=True)]
    if len(rows[0]) > _LONGEST:
        added[_LONGEST - _HEAD] = max(row[_LONGEST] for row in rows)
    return [*heads[0], *added]


def _largest(events: list[Event], name: str) -> float | None:
    return max((event[name] for event in events if event[name] is not None), default=None)
