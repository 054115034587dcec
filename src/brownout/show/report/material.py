"""What a report is made from: everything in a run directory, each part there or named as missing.

A run that was aborted early, had no fault or whose generator died still gets a report. So no part
is taken for granted: what cannot be read is None (or empty), and `missing` says why, by part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brownout.measure.impact import UNKNOWN, Impact
from brownout.run.lanes import LaneKey
from brownout.show.report.chart import Floats
from brownout.show.report.faults import node_names

__all__ = ["Columns", "Happening", "Material", "OverTime", "PhaseSpectra", "Spectrum", "Window"]

#: The columns of one scope by name, one value a bucket: `{"t": …, "ok": …, "offered": …}`.
Columns = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end`, seconds since t0."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Happening:
    """One event as the report shows it: when (`t`, effective where proven), in words.

    Events that are pinned to the figures have a `number`, from 1.
    """

    number: int | None
    t: float | None
    kind: str
    words: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OverTime:
    """Response time of `ok` operations in the interval around `t` (s); all values in µs."""

    t: Floats
    p50: Floats
    p99: Floats
    p999: Floats
    max: Floats


@dataclass(frozen=True, slots=True)
class Spectrum:
    """A percentile spectrum: `value_us[i]` at `inverse[i]` = 1 ÷ (1 - p), of `count` operations.

    Of these `not_ok` took longer than their deadline or for ever; the values end before them.
    """

    inverse: Floats
    value_us: Floats
    count: int
    not_ok: int = 0


@dataclass(frozen=True, slots=True)
class PhaseSpectra:
    """The spectra of one scope around fault number `number`: before, during, after and `all`."""

    scope: str
    number: int
    fault: str
    phases: Mapping[str, Spectrum]


@dataclass(frozen=True, slots=True)
class Material:
    """A whole run, read; times in seconds since t0."""

    path: Path
    impact: Impact = UNKNOWN
    metadata: Mapping[str, Any] = field(default_factory=dict)
    generator: Mapping[str, Any] = field(default_factory=dict)
    journal: Mapping[str, Any] = field(default_factory=dict)
    happenings: Sequence[Happening] = ()
    series: Mapping[str, Columns] = field(default_factory=dict)
    outcomes: Mapping[str, Columns] = field(default_factory=dict)
    lanes: Mapping[LaneKey, Columns] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Any]] = ()
    causes: Mapping[str, Floats] = field(default_factory=dict)
    latency: Mapping[str, OverTime] = field(default_factory=dict)
    spectra: Sequence[PhaseSpectra] = ()
    health: Columns = field(default_factory=dict)
    dips: Mapping[str, Sequence[Window]] = field(default_factory=dict)
    felt: Sequence[Window] = ()
    recoveries: Sequence[tuple[float, float | None]] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def end(self) -> float:
        """The end of the last bucket, at least 1 s, so that an axis can be drawn."""
        total = self.series.get("total")
        return max(1.0, float(total["t"][-1]) + 0.1) if total and len(total["t"]) else 1.0

    @property
    def open_loop(self) -> bool:
        """Whether operations started by a schedule, whatever the database did."""
        return self.impact.load.loop == "open"

    @property
    def node_names(self) -> Mapping[str, str]:
        """The names of nodes by their addresses, which lanes are called by."""
        return node_names(self.impact)

    @property
    def deadline_s(self) -> float | None:
        """The deadline that decided every result."""
        return self.impact.deadline_s

    @property
    def stand_in(self) -> bool:
        """Whether a stand-in of ours was measured instead of a database."""
        return self.impact.stand_in

    @property
    def has_impact(self) -> bool:
        """Whether the run could be measured."""
        return self.impact is not UNKNOWN
