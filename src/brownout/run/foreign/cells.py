"""Cells of other tools as numbers and times."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from brownout.run.foreign.series import UNITS

__all__ = [
    "Clock",
    "Moment",
    "clock_of",
    "is_epoch",
    "moment",
    "never_falls",
    "number",
    "truth",
    "unit_of_cell",
]

_EMPTY = ("", "null", "nan", "none", "n/a", "na", "-", "undefined", "nil", "\\n")
_REST = (
    r"(?:[eE][+-]?\d{1,3})?)\s*(?P<factor>k|K|M|Mil|Bil|G)?\s*"
    r"(?P<unit>[A-Za-z%/µ][^\d;,]{0,20})?"
)
_SPACE = "[ \u00a0\u202f']"
_NUMBER = re.compile(
    rf"(?P<number>[+-]?(?:\d{{1,3}}(?:(?:,|{_SPACE})\d{{3}})+|\d+)?(?:\.\d*)?{_REST}"
)
_DECIMAL_COMMA = re.compile(
    rf"(?P<number>[+-]?(?:\d{{1,3}}(?:(?:\.|{_SPACE})\d{{3}})+|\d+)?(?:,\d*)?{_REST}"
)
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "Mil": 1e6, "Bil": 1e9, "G": 1e9}
_TRUE = ("true", "ok", "yes", "pass", "passed", "success")
_FALSE = ("false", "ko", "no", "fail", "failed", "failure", "error")
_CLOCKS = ("%Y-%m-%d %H:%M:%S:%f", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f")
#: From here on a number of seconds is a time since 1970, and so for ms, µs and ns.
_EPOCH_S = 1e8


def number(text: str, decimal_comma: bool = False) -> float | None:
    """Return the number of a cell, with or without a unit; None for an empty cell, null or NaN.

    `500`, `1,234.5`, `500 ops/s`, `1.2K req/s`, and with `decimal_comma` `500,5`. Raises
    `ValueError` for anything else.
    """
    text = text.strip()
    if text.lower() in _EMPTY:
        return None
    matched = _DECIMAL_COMMA.fullmatch(text) if decimal_comma else None
    if matched and ("," in matched["number"] or matched["number"].count(".") != 1):
        digits = matched["number"].replace(".", "").replace(",", ".")
    elif matched := _NUMBER.fullmatch(text):  # 500.5 beside `;` is a decimal point all the same
        digits = matched["number"].replace(",", "")
    else:
        raise ValueError(text)
    digits = re.sub(_SPACE, "", digits)
    if not any(sign.isdigit() for sign in digits):
        raise ValueError(text)
    value = float(digits) * _FACTORS.get(matched["factor"] or "", 1.0)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def unit_of_cell(text: str) -> str:
    """Return the unit that stands in a cell: `ops/s` of `500 ops/s`; empty without one."""
    matched = _NUMBER.fullmatch(text.strip())
    return (matched["unit"] or "").strip() if matched else ""


def truth(text: str) -> bool | None:
    """Return whether a cell says that a request succeeded; None if it says neither.

    A word such as `true`, `KO`, or an HTTP status, of which 100 to 399 are a success.
    """
    text = text.strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if re.fullmatch(r"[0-5]\d\d|0", text):
        return 100 <= int(text) < 400
    return None


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: seconds, whether since 1970, and whether its text named a zone."""

    t: float
    absolute: bool
    zoned: bool = True


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the times of one column: numbers in `unit`, or times of day where that is empty."""

    unit: str

    def read(self, text: str) -> float:
        """Return seconds; raises `ValueError` for a cell that is not such a time."""
        if not self.unit:
            return _time_of_day(text)[0]
        text = text.strip()
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(text)
        return value / round(1 / UNITS[self.unit])


def clock_of(text: str, unit: str) -> Clock:
    """Return the clock that reads a column of which `text` is the first cell.

    Without a `unit` the magnitude tells seconds, ms, µs and ns since 1970 apart.
    """
    try:
        value = float(text)
    except ValueError:
        _time_of_day(text)
        return Clock("")
    if not math.isfinite(value):
        raise ValueError(text)
    return Clock(unit or _magnitude(value))


def moment(text: str, unit: str) -> Moment:
    """Return `--fault-at`: a number in `unit`, which its magnitude tells, or a time of day."""
    try:
        value = float(text)
    except ValueError:
        t, zoned = _time_of_day(text)
        return Moment(t, True, zoned)
    if not math.isfinite(value):
        raise ValueError(text)
    if not unit and value >= _EPOCH_S:
        unit = _magnitude(value)
    t = value / round(1 / UNITS[unit or "s"])
    return Moment(t, is_epoch(t))


def is_epoch(t: float) -> bool:
    """Say whether seconds count from 1970 and not from the start of a tool."""
    return t >= _EPOCH_S


def _magnitude(value: float) -> str:
    """Return the unit in which `value` lies between 1973 and the year 5138; else seconds."""
    for unit, size in (("s", 1e11), ("ms", 1e14), ("us", 1e17), ("ns", 1e20)):
        if value < size:
            return unit
    raise ValueError(f"{value:g}")


def _time_of_day(text: str) -> tuple[float, bool]:
    """Return seconds since 1970, in UTC where no zone is named, and whether one is."""
    text = text.strip()
    try:
        at = datetime.fromisoformat(_microseconds(text))
    except ValueError:
        at = None
        for form in _CLOCKS:
            try:
                at = datetime.strptime(text, form)
                break
            except ValueError:
                continue
    if at is None or len(text) < 8:
        raise ValueError(text)
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), at.tzinfo is not None
    except OverflowError as error:
        raise ValueError(text) from error


def _microseconds(text: str) -> str:
    """Cut nanoseconds, which `fromisoformat` may not take, to microseconds."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def never_falls(values: Sequence[float]) -> bool:
    """Say whether values only rise, as running totals do, but for a restart of what counts."""
    steps = [after - before for before, after in pairwise(values)]
    rises = sum(step > 0 for step in steps)
    falls = [(before, after) for before, after in pairwise(values) if after < before]
    restarts = len(falls) <= 2 and all(after < before / 2 for before, after in falls)
    return len(values) >= 10 and restarts and rises >= 0.5 * len(steps)
