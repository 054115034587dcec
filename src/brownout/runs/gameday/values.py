"""Single values of a gameday.yaml: spans of time, moments, time zones, hours, stop conditions."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from brownout.base.errors import ConfigurationError
from brownout.inventory.hours import parse_window
from brownout.session.stopping import Condition, parse_conditions

__all__ = ["Conditions", "Hours", "Moment", "Span", "Zone"]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _span(value: Any) -> Any:
    """`90s`, `10m`, `2h`, `30d`, `8w`."""
    if isinstance(value, timedelta):
        return value
    form = re.fullmatch(r"(\d+)([smhdw])", str(value).strip())
    if form is None or int(form[1]) == 0:
        raise ValueError("wanted a time as 90s, 10m, 2h, 30d or 8w")
    try:
        return timedelta(**{_UNITS[form[2]]: int(form[1])})
    except OverflowError as error:
        raise ValueError("wanted a time of some years at most") from error


Span = Annotated[
    timedelta,
    BeforeValidator(_span),
    WithJsonSchema({"type": "string", "pattern": r"^\d+[smhdw]$"}),
]


def _moment(value: Any) -> Any:
    """An ISO 8601 time with its offset, as text or as YAML reads it."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("wanted a moment with its offset, as 2026-11-24T10:00:00+01:00")
    return moment


Moment = Annotated[datetime, BeforeValidator(_moment)]


def _conditions(value: Any) -> Any:
    try:
        return tuple(parse_conditions(list(value) if isinstance(value, tuple) else value))
    except ConfigurationError as error:
        raise ValueError("; ".join(error.problems)) from error


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise ValueError("wanted a time zone as Europe/Berlin or UTC") from error
    return text


def _hours(text: str) -> str:
    parse_window(text)
    return text


Zone = Annotated[str, AfterValidator(_zone)]
Hours = Annotated[str, AfterValidator(_hours)]
Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]
