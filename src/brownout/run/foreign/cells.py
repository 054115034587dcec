"""Cells of other tools as numbers and times."""

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from brownout.run.foreign.series import UNITS

__all__ = [
    "Clock",
    "Moment",
    "clock_of",
    "is_empty",
    "is_epoch",
    "is_total_name",
    "moment",
    "number",
    "rises",
    "thousands_mark",
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
_LEADING = re.compile(r"\d[\d.,]*")
_THOUSANDS = re.compile(
    r"[1-9]\d{0,2}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d*)?"
)
_OTHER = {".": ",", ",": "."}
_TOTAL_NAME = re.compile(r"_(?:total|count|sum)(?:\{.*\})?$", re.IGNORECASE)
_CLOCKS = ("%Y-%m-%d %H:%M:%S:%f", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f",
           "%Y/%m/%d %H:%M:%S%z", "%Y/%m/%d %H:%M:%S.%f%z", "%d.%m.%Y %H:%M:%S")  # fmt: skip
#: A zone as some write it: ` UTC`, ` +0000`, `+0200 CEST`, of which the name repeats the number.
_ZONE = re.compile(
    r"(?P<time>.*:\d\d\S*?)\s*(?:(?P<utc>UTC|GMT|Z)|(?P<ahead>[+-]\d\d:?\d\d)(?: [A-Z]{3,5})?)"
)
_COMMA_FLOAT = re.compile(r"\s*[+-]?\d+,\d+\s*")
#: From here on a number of seconds is a time since 1970, and so for ms, µs and ns.
_EPOCH_S = 1e8


def number(text: str, decimal_comma: bool = False, thousands_dot: bool = False) -> float | None:
    """Return the number of a cell, with or without a unit; None for an empty cell, null or NaN.

    `500`, `1,234.5`, `500 ops/s`, `1.2K req/s`, and with `decimal_comma` `500,5`. `1.002` is little
    more than 1, or with `thousands_dot` 1002. Raises `ValueError` for anything else.
    """
    text = text.strip()
    if is_empty(text):
        return None
    matched = _DECIMAL_COMMA.fullmatch(text) if decimal_comma else None
    one_dot = matched is not None and matched["number"].count(".") == 1
    if matched and (thousands_dot or "," in matched["number"] or not one_dot):
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


def thousands_mark(cells: Iterable[str]) -> str:
    """Return what stands between the thousands of a column, a dot or a comma; empty if neither.

    It stands before three digits each time, while numbers below a thousand have none and those from
    there on all do: `998` beside `1.002`. Decimals would vary in length.
    """
    plain, marks = False, set()
    for cell in cells:
        digits = _LEADING.match(cell.strip())
        if digits is None:
            continue
        if grouped := _THOUSANDS.fullmatch(digits[0]):
            marks.add(grouped["mark"])
        elif re.fullmatch(r"\d{1,3}", digits[0]):
            plain = True
        else:
            plain = plain or bool(re.fullmatch(r"\d{1,3}[.,]\d+", digits[0]))
            marks.add(_OTHER.get(digits[0].lstrip("0123456789")[:1], ""))
    return marks.pop() if plain and len(marks) == 1 else ""


def is_empty(text: str) -> bool:
    """Say whether a cell holds nothing, or a word for it."""
    return text.strip().lower() in _EMPTY


def unit_of_cell(text: str) -> str:
    """Return the unit that stands in a cell: `ops/s` of `500 ops/s`; empty without one."""
    matched = _NUMBER.fullmatch(text.strip())
    return (matched["unit"] or "").strip() if matched else ""


def truth(text: str) -> bool | None:
    """Return whether a cell says that a request succeeded; None if it says neither.

    A word such as `true`, `KO`, or an HTTP status, of which 100 to 399 are a success; `5xx` too.
    """
    text = text.strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if re.fullmatch(r"[0-5]\d\d|0", text):
        return 100 <= int(text) < 400
    if re.fullmatch(r"[1-5]xx", text):
        return text[0] in "123"
    return None


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: seconds, and whether since 1970.

    `zone_s` is how many seconds ahead of UTC its text says that it is, None if it names no zone.
    """

    t: float
    absolute: bool
    zone_s: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Reads the times of one column: numbers in `unit`, or times of day where that is empty.

    `zone_s` is that of the column's first time, as of a `Moment`; 0 of numbers.
    """

    unit: str
    zone_s: float | None = 0.0

    def read(self, text: str) -> float:
        """Return seconds; raises `ValueError` for a cell that is not such a time."""
        if not self.unit:
            return _time_of_day(text)[0]
        text = text.strip()
        value = _float(text)
        if not math.isfinite(value):
            raise ValueError(text)
        return value / round(1 / UNITS[self.unit])


def clock_of(text: str, unit: str) -> Clock:
    """Return the clock that reads a column of which `text` is the first cell.

    Without a `unit` the magnitude tells seconds, ms, µs and ns since 1970 apart.
    """
    try:
        value = _float(text)
    except ValueError:
        return Clock("", _time_of_day(text)[1])
    if not math.isfinite(value):
        raise ValueError(text)
    return Clock(unit or _magnitude(value))


def moment(text: str, unit: str) -> Moment:
    """Return `--fault-at`: a number in `unit`, which its magnitude tells, or a time of day."""
    try:
        value = _float(text)
    except ValueError:
        t, zone_s = _time_of_day(text)
        return Moment(t, True, zone_s)
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


def _float(text: str) -> float:
    """Return a number of seconds, whose decimal point may be a comma."""
    return float(text.replace(",", ".") if _COMMA_FLOAT.fullmatch(text) else text)


def _time_of_day(text: str) -> tuple[float, float | None]:
    """Return seconds since 1970, in UTC where no zone is named, and how far ahead of UTC it is."""
    text = text.strip()
    zone = _ZONE.fullmatch(text)
    at = _date(zone["time"] + (zone["ahead"] or "+00:00") if zone else text)
    try:
        ahead = at.utcoffset()
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except OverflowError as error:
        raise ValueError(text) from error
    return seconds, None if ahead is None else ahead.total_seconds()


def _date(text: str) -> datetime:
    if len(text) < 8:
        raise ValueError(text)
    try:
        return datetime.fromisoformat(_microseconds(text))
    except ValueError:
        for form in _CLOCKS:
            with suppress(ValueError):
                return datetime.strptime(text, form)
        raise


def _microseconds(text: str) -> str:
    """Cut nanoseconds, which `fromisoformat` may not take, to microseconds."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def is_total_name(name: str) -> bool:
    """Say whether a name is one that Prometheus gives to running totals."""
    return _TOTAL_NAME.search(name.strip()) is not None


def rises(values: Sequence[float], named: bool = False) -> bool | None:
    """Say whether values are a running total; None if too few of them rise to tell.

    A total only rises or stays, but for a restart of what counts, after which it is less than half.
    It rises in a fifth of its steps, before a restart too: counts that stay the same and fall in an
    outage do not. A total that is `named` so may rise less often, and restart more often.
    """
    stretches: list[int] = [0]
    lengths = [0]
    for before, after in pairwise(values):
        if after < before:
            if after >= before / 2:
                return False
            stretches.append(0)
            lengths.append(0)
        else:
            stretches[-1] += after > before
            lengths[-1] += 1
    if len(stretches) > 3 and not named:
        return False
    least = 0.02 if named else 0.2
    enough = all(
        rising > 0 and rising >= least * length
        for rising, length in zip(stretches[:-1], lengths, strict=False)
    )
    rising = sum(stretches)
    if len(values) >= 10 and enough and rising >= max(3, least * sum(lengths)):
        return True
    return None
