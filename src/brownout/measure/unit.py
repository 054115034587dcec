"""What a measure is counted in: how it is written, worded, bounded and exported, in one object.

A package with a measure in another unit makes a `Unit` of its own; nothing else has to know it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brownout.base.words import duration

__all__ = [
    "BYTES",
    "BYTES_PER_SECOND",
    "DIPS",
    "KEYS",
    "MICROSECONDS",
    "OPERATIONS",
    "RATIO",
    "READS",
    "RECORDS",
    "RECORDS_PER_SECOND",
    "SECONDS",
    "TIMES",
    "UNITS",
    "WRITES",
    "Unit",
    "data_size",
]

#: Returns a value in words; the number is the most significant digits of a percentage.
Words = Callable[[float, int], str]


def _count(value: float, digits: int) -> str:
    return f"{value:,.0f}"


def _percentage(value: float, digits: int) -> str:
    return f"{100 * value:.{digits}g} %"


def _milliseconds(value: float, digits: int) -> str:
    return f"{value / 1000:,.1f} ms"


def _duration(value: float, digits: int) -> str:
    return duration(value)


def data_size(size: float) -> str:
    """`812 B`, `64.2 kB`, `1.1 GB`."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measures.

    `name` is what files and JSON call it. A limit may be written in each of `scales`, which says
    how many of the unit that is. `metric` ends the Prometheus name of what is in the unit, `per`
    is how many of the unit are one of that metric, which is in a base unit of Prometheus
    (https://prometheus.io/docs/practices/naming/), and `grafana` is Grafana's name of that.

    `maximum` is the largest possible value, None without a bound. Differences below `floor` are
    noise: what two buckets of 0.1 s, or a hundredth, can hide. Two outcomes of one experiment are
    at least `apart`. An allowance is judged as if the pinned median were `minimum_pinned` or more.

    `words` puts a value into words under a label that names it. `exact` does so beside a limit, in
    four digits, with the unit: `12.34 s`, `1,523 writes`.
    """

    name: str
    scales: Mapping[str, float] = field(default_factory=dict, hash=False)
    metric: str = ""
    per: float = 1.0
    grafana: str = "none"
    maximum: float | None = None
    floor: float = 1.0
    apart: float = 1.0
    minimum_pinned: float = 100.0
    words: Words = _count
    exact: Callable[[float], str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", {self.name: 1.0, **self.scales})
        object.__setattr__(self, "metric", self.metric or self.name.replace("/", "_per_"))

    def beside_its_limit(self, value: float) -> str:
        """Return a value in four digits with its unit, as a reason of a verdict says it."""
        return self.exact(value) if self.exact else f"{value:,.0f} {self.name}"


_SHARE: dict[str, Any] = {
    "metric": "ratio",
    "grafana": "percentunit",
    "floor": 0.01,
    "apart": 0.1,
    "minimum_pinned": 1.0,
    "words": _percentage,
    "exact": lambda value: f"{100 * value:.4g} %",
}
#: A share of a whole: 0 to 1.
RATIO = Unit("ratio", {"%": 0.01}, maximum=1.0, **_SHARE)
#: How many times as much something is as another thing: 3 times the error budget.
TIMES = Unit("times", {"ratio": 1.0, "%": 0.01}, **_SHARE)
SECONDS = Unit(
    "s",
    {"ms": 0.001, "min": 60.0},
    metric="seconds",
    grafana="s",
    floor=0.2,
    minimum_pinned=1.0,
    words=_duration,
    exact=lambda value: f"{value:,.4g} s",
)
MICROSECONDS = Unit(
    "us",
    {"ms": 1e3, "s": 1e6},
    metric="seconds",
    per=1e6,
    grafana="s",
    floor=1000.0,
    apart=100_000.0,
    minimum_pinned=10_000.0,
    words=_milliseconds,
    exact=lambda value: f"{value / 1000:,.4g} ms",
)
OPERATIONS = Unit("operations", apart=100.0)
WRITES, DIPS, RECORDS, KEYS = Unit("writes"), Unit("dips"), Unit("records"), Unit("keys")
READS = Unit("reads")
RECORDS_PER_SECOND = Unit("records/s", metric="records_per_second")
BYTES = Unit(
    "bytes", {"MB": 1e6, "GB": 1e9}, grafana="decbytes", words=lambda value, _: data_size(value)
)
BYTES_PER_SECOND = Unit(
    "bytes/s",
    {"MB/s": 1e6},
    metric="bytes_per_second",
    grafana="Bps",
    words=lambda value, _: f"{data_size(value)}/s",
)

#: What a measure may name its unit by.
UNITS = {
    unit.name: unit
    for unit in (
        RATIO,
        TIMES,
        SECONDS,
        MICROSECONDS,
        OPERATIONS,
        KEYS,
        WRITES,
        READS,
        DIPS,
        RECORDS,
        RECORDS_PER_SECOND,
        BYTES,
        BYTES_PER_SECOND,
    )
}
