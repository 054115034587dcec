"""Options that are times: `30s`, `5m`, `8w`, always with a unit."""

from typing import Any

import typer

from brownout.base.durations import parse_duration
from brownout.base.errors import ConfigurationError

__all__ = ["duration_option", "seconds"]

#: How help shows the value of such an option.
_METAVAR = "<duration>"


def duration_option(help: str, *names: str) -> Any:
    """Return a typer option whose text is for `seconds` to read."""
    return typer.Option(*names, help=help, metavar=_METAVAR)


def seconds(text: str, option: str, least: float | None = None) -> float:
    """Return the seconds of `250ms`, `30s`, `1.5m`, `1h`, `30d` or `8w`.

    Raises `ConfigurationError`, which names `option`, for anything else, for less than `least`
    seconds (for 0 where that is None), and for more than a century.
    """
    try:
        length = parse_duration(text)
    except ValueError as error:
        raise ConfigurationError(f"{option}: found {text!r}, {error}") from error
    if length < (least or 0.0) or (least is None and not length):
        wanted = "more than 0s" if least is None else f"{least:g}s at least"
        raise ConfigurationError(f"{option}: found {text!r}, wanted {wanted}")
    return length
