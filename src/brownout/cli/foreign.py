"""Read a CSV file that another tool made: three columns by name, times as numbers or ISO 8601."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import ConfigurationError

__all__ = ["Foreign", "read"]

MOST_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Foreign:
    """The columns, row by row; times and `fault_at` in seconds of the same origin."""

    t: list[float]
    ok: list[float]
    offered: list[float] | None
    fault_at: float


def read(path: Path, time: str, ok: str, offered: str, unit: str, fault_at: str) -> Foreign:
    """Read `path`; raises `ConfigurationError` with every problem, as line and column."""
    problems: list[str] = []
    rows = _rows(path, [name for name in (time, ok, offered) if name])
    columns: dict[str, list[float]] = {}
    for name, reader in (
        (time, _time(unit)),
        (ok, _count),
        *([(offered, _count)] if offered else []),
    ):
        columns[name] = _column(path, rows, name, reader, problems)
    try:
        at = _time(unit)(fault_at)
    except ValueError:
        problems.append(f"--fault-at: found {fault_at!r}, wanted a time as in column `{time}`")
        at = 0.0
    if problems:
        more = len(problems) - MOST_PROBLEMS
        raise ConfigurationError(
            problems[:MOST_PROBLEMS] + ([f"and {more} more"] if more > 0 else [])
        )
    return Foreign(columns[time], columns[ok], columns[offered] if offered else None, at)


def _rows(path: Path, wanted: list[str]) -> list[dict[str, str]]:
    """All rows by the header's names, which must have the `wanted` ones."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or ())
            rows = [{key: value or "" for key, value in row.items() if key} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{path}: cannot be read as CSV: {reason}") from error
    missing = [name for name in wanted if name not in header]
    if missing:
        found = ", ".join(header) or "nothing"
        raise ConfigurationError(
            [f"{path}: has no column `{name}`; found {found}" for name in missing],
            "name the columns by --time, --ok and --offered",
        )
    return rows


def _column(
    path: Path,
    rows: list[dict[str, str]],
    name: str,
    reader: Callable[[str], float],
    problems: list[str],
) -> list[float]:
    values = []
    for number, row in enumerate(rows, 2):
        try:
            values.append(reader(row.get(name, "")))
        except ValueError:
            problems.append(
                f"{path}:{number}: {name}: found {row.get(name, '')!r}, wanted a number"
            )
            values.append(0.0)
    return values


def _count(text: str) -> float:
    return float(text)


def _time(unit: str) -> Callable[[str], float]:
    """A reader of times: a number in `unit`, or a wall-clock time, in UTC where it has no zone."""
    factor = {"s": 1.0, "ms": 0.001}[unit]

    def reader(text: str) -> float:
        try:
            return float(text) * factor
        except ValueError:
            found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()

    return reader
