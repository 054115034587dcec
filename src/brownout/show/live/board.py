"""The picture of a running run at one moment, as plain data: nothing here draws or reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Board", "Clock", "Countdown", "Figures", "Mark", "Outlook"]


@dataclass(frozen=True, slots=True)
class Countdown:
    """A wait that has a limit: `elapsed_s` of at most `limit_s` seconds."""

    elapsed_s: float
    limit_s: float


@dataclass(frozen=True, slots=True)
class Clock:
    """A recovery clock, in seconds since the fault took effect.

    It runs until `stopped`; `note` says what it waits for, e.g. `holding, 2 of 5 s`.
    """

    name: str
    seconds: float
    stopped: bool
    limit_s: float | None = None
    note: str = ""

    @property
    def over(self) -> bool:
        """Whether it is beyond its limit."""
        return self.limit_s is not None and self.seconds > self.limit_s


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at `t`: a break, a mend or a milestone, in words."""

    t: float
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What the load does: `ok_per_s[i]` and `slowest_ms[i]` of second `first_s + i`, whole seconds.

    `tps` is the mean of the last second; percentiles are of what was ok in it, None where they
    are not known or nothing was.
    """

    t: float
    first_s: int
    ok_per_s: tuple[float, ...]
    slowest_ms: tuple[float, ...]
    tps: float
    pending: int
    errors: int
    causes: Mapping[str, int] = field(default_factory=dict)
    p50_ms: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """The verdict so far: limits already broken, in words, and how many still hold."""

    broken: tuple[str, ...] = ()
    holding: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """One moment of a run. `broken` maps each broken node to what it waits for."""

    title: str = ""
    phase: str = ""
    detail: str = ""
    progress: tuple[int, int] | None = None
    countdown: Countdown | None = None
    figures: Figures | None = None
    baseline_tps: float | None = None
    broken: Mapping[str, str] = field(default_factory=dict)
    clocks: tuple[Clock, ...] = ()
    marks: tuple[Mark, ...] = ()
    outlook: Outlook | None = None
