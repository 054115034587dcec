"""What the measures of a run are made from: plain data, from whatever source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from brownout.measure.settings import MeasureSettings
from brownout.run.balance import Balance
from brownout.run.events import Event
from brownout.run.lanes import Lane, LaneKey
from brownout.run.latency import LatencyLog
from brownout.run.primaries import Look
from brownout.run.table import Series

__all__ = ["ErrorRow", "RunData", "Seen", "Stream", "TimeAbove"]

#: [last no, first yes] in seconds, of what was polled; None as the second is never.
Seen = tuple[float, float | None]


class ErrorRow(NamedTuple):
    """`n` operations that ended badly in the bucket from `t` on, for one cause."""

    t: float
    stream: str
    op: str
    cause: str
    n: int


@dataclass(frozen=True, slots=True)
class Stream:
    """What a measure needs to know of a stream: `retries` is `none`, `once` or `driver-default`."""

    name: str
    deadline_s: float = 1.0
    retries: str = "none"
    closed: bool = False
    rate: float = 0.0
    verified: bool = False


class TimeAbove(NamedTuple):
    """In how many seconds the percentile `ratio` exceeded `limit_us`; named e.g. `p99_10ms`."""

    name: str
    ratio: float
    limit_us: int


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """One run. `end` is when the load ended, in seconds since the schedule's start.

    `balance` is what the nodes said that they held, where a cluster was resized.
    `primaries` is what each node said of whether it accepts writes, in the order of the answers.
    `lanes` holds the columns of each failure domain, a value a bucket, as `read_lanes` gives them.
    `lags_ms` is how late the generator was at most, in ms by second; empty where it did not say.
    `managed` says that a provider carries out the requests, perhaps minutes later.
    """

    series: Series
    events: Sequence[Event]
    streams: Sequence[Stream]
    settings: MeasureSettings
    end: float
    errors: Sequence[ErrorRow] = ()
    lanes: Mapping[LaneKey, Lane] = field(default_factory=dict)
    latency: LatencyLog = field(default_factory=lambda: LatencyLog({}))
    managed: bool = False
    balance: Sequence[Balance] = ()
    primaries: Sequence[Look] = ()
    time_above: Sequence[TimeAbove] = ()
    lags_ms: Mapping[int, float] = field(default_factory=dict)

    @property
    def deadline_s(self) -> float:
        """The longest deadline of a stream: nothing is under way for longer."""
        return max((stream.deadline_s for stream in self.streams), default=1.0)
