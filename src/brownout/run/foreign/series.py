"""What is asked of a foreign file, and what was read from it, as plain data."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from brownout.base.errors import ConfigurationError

__all__ = [
    "FORMATS",
    "LONGEST_S",
    "MOST_ROWS",
    "UNITS",
    "ForeignSeries",
    "Kind",
    "Options",
    "Row",
    "Rows",
    "Stamp",
    "outside",
    "refused",
    "shortened",
    "written",
]

Kind = Literal["count", "rate", "total"]
Stamp = Literal["start", "end"]

#: Every value of `--format`.
FORMATS = (
    "csv",
    "asbench",
    "cassandra-stress",
    "gatling",
    "grafana",
    "hey",
    "hlog",
    "jmeter",
    "k6",
    "locust",
    "memtier",
    "nosqlbench",
    "pgbench",
    "prometheus",
    "sysbench",
    "tsbs",
    "vegeta",
    "ycsb",
)
#: Seconds in a unit of a numeric time.
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
#: So much is kept in memory at most: a day at 0.1 s, a million rows.
LONGEST_S = 86_400.0
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is to be read; what is empty or None is recognised.

    `where` are pairs of a column (or label) and the only value to keep.
    """

    fault_at: str
    time: str = ""
    ok: str = ""
    offered: str = ""
    unit: str = ""
    stamp: Stamp | None = None
    rate: bool | None = None
    counter: bool | None = None
    gaps: Literal["zero", "unknown", "error"] | None = None
    where: tuple[tuple[str, str], ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True)
class ForeignSeries:
    """Counts per interval: row `i` lasts from `start[i]` to `end[i]`, in seconds of one origin.

    Rows follow each other without gaps. `ok` is NaN where nothing is known. `offered` is None
    where only what was served is known. `most` is how many may have been served where some of it is
    not known, else `ok`; None where all is known. `notes` say how the file was read, a sentence
    each. `silence` is how many operations have to be missing before it is an outage that none is
    served, where that is more than measures ask for.
    """

    start: list[float]
    end: list[float]
    ok: list[float]
    offered: list[float] | None
    fault_at: float
    format: str
    row_s: float
    notes: tuple[str, ...] = ()
    most: list[float] | None = None
    silence: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands: `ok` and `offered` are None where the cell is empty.

    `place` names it in messages; `total` is a running total beside a rate; `length` is the row's
    own length in seconds, where it has one. Of several series added up, `absent` names those that
    have no number at this moment, and `absent_usual` is their usual one. It is also what a running
    total that ended for good may have counted up to this moment.
    """

    t: float
    ok: float | None
    place: str
    offered: float | None = None
    total: float | None = None
    length: float | None = None
    absent: str = ""
    absent_usual: float = 0.0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one series in the file's order, and what the tool's format says of them.

    `kind` and `stamp` are None where the format leaves it open. `epoch` is the time of day of
    second 0, where the times count from the tool's start and the file says when that was. Where
    `of_day`, the file has times of day, and messages say them so. `gaps` is what the tool's
    missing rows mean, where that is known. `zone_s` is how many seconds ahead of UTC the times say
    that they are, None where they name no zone. Where `answers`, `offered` counts how many were
    answered, also by a failure, and not how many were wanted. `unit` is that of the numbers, where
    the file says it.
    """

    rows: list[Row]
    column: str
    kind: Kind | None = None
    stamp: Stamp | None = None
    epoch: float | None = None
    of_day: bool = False
    gaps: Literal["zero"] | None = None
    notes: tuple[str, ...] = ()
    zone_s: float | None = 0.0
    answers: bool = False
    unit: str = ""


def refused(message: str, hint: str = "") -> ConfigurationError:
    """Return the error for a file that cannot be read as asked: one line, never the file itself."""
    return ConfigurationError(message, hint)


def shortened(text: str, most: int = 40) -> str:
    """Return a cell for a message: quoted, on one line, `most` characters at most."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def outside(fault_at: float, begin: float, end: float, of_day: bool) -> ConfigurationError:
    """Return the error for a fault that is not within the rows, in seconds or as times of day."""
    at, first, last = (written(t, of_day) for t in (fault_at, begin, end))
    zone = "; a time without a zone is taken as UTC, in the file as here" if of_day else ""
    return refused(
        f"--fault-at: {at} is not within the rows, which last from {first} to {last}",
        "give it in the time column's own terms" + zone,
    )


def written(t: float, of_day: bool) -> str:
    """Return a time as `2024-03-01T11:01:00Z`, or seconds: `60`, `1700000060.5`."""
    if of_day:
        try:
            return datetime.fromtimestamp(t, UTC).isoformat().replace("+00:00", "Z")
        except (ValueError, OverflowError, OSError):
            pass
    return f"{t:.3f}".rstrip("0").rstrip(".")
