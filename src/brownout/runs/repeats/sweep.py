"""One variable at several values: what each cost, as a table and as a curve. Pure.

A slow migration leaves the cluster vulnerable for long, a fast one takes more from its users: each
value is a point between the two, and its owner chooses one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high
from typing import Any

from brownout.measure.measures import label
from brownout.measure.reading import NEVER, value_of
from brownout.show.report.words import STAND_IN, quantity

__all__ = ["COLUMNS", "Point", "point", "render", "settings_of"]

#: Measures of a point.
COLUMNS = (
    "rebalance_time",
    "redundancy_time",
    "throughput_while_moving",
    "tps_drop",
    "latency.during.p99_us",
    "lost_operations",
)


@dataclass(frozen=True, slots=True)
class Point:
    """What the runs with one value measured: the median of each of `COLUMNS`, None for none.

    `verdicts` are those of its runs, in order.
    """

    value: str
    verdicts: tuple[str, ...]
    measures: Mapping[str, float | None]
    stand_in: bool = False


def settings_of(text: str) -> tuple[str, list[str]] | None:
    """Read `migrate_threads=1,2,4` as the variable and its values; None for another form."""
    name, equals, listed = text.partition("=")
    values = [value.strip() for value in listed.split(",") if value.strip()]
    return (name.strip(), values) if equals and name.strip() and len(values) > 1 else None


def point(value: str, verdicts: Sequence[str], impacts: Sequence[Mapping[str, Any]]) -> Point:
    """Return the point of one value, from the impacts of its runs."""
    measures = {name: _median([value_of(impact, name) for impact in impacts]) for name in COLUMNS}
    return Point(value, tuple(verdicts), measures, any(i["stand_in"] for i in impacts))


def render(variable: str, points: Sequence[Point]) -> str:
    """Return the table, a row a value."""
    rows = [(variable, *map(label, COLUMNS), "verdict")]
    for each in points:
        told = (_words(name, each.measures[name]) for name in COLUMNS)
        rows.append((each.value, *told, ", ".join(dict.fromkeys(each.verdicts))))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *([STAND_IN] if any(each.stand_in for each in points) else [])])


def _words(name: str, value: float | None) -> str:
    return "–" if value is None else quantity(name, value)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and value != NEVER]
    return median_high(known) if known and len(known) == len(values) else None
