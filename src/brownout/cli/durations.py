"""Times on the command line: `30s`, `5m`, `8w`, always with a unit.

A bare number is refused: whether it was meant as seconds or as milliseconds nobody can tell later.
"""

import re
from typing import Any

import typer

from brownout.base.errors import ConfigurationError

__all__ = ["METAVAR", "duration_option", "seconds"]

#: How help shows the value of such an option.
METAVAR = "<duration>"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_LONGEST_S = 100 * 365 * 86400.0
_FORM = re.compile(rf"(\d+(?:\.\d+)?)({'|'.join(_UNITS)})")


def duration_option(help: str, *names: str) -> Any:
    """Return a typer option whose text is for `seconds` to read."""
    return typer.Option(*names, help=help, metavar=METAVAR)


def seconds(text: str, option: str, least: float | None = None) -> float:
    """Return the seconds of `250ms`, `30s`, `1.5m`, `1h`, `30d` or `8w`.

    Raises `ConfigurationError`, which names `option`, for anything else, for less than `least`
    seconds (for 0 where that is None), and for more than a century.
    """
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise ConfigurationError(
            f"{option}: found {text!r}, wanted a time with its unit, as 500ms, 30s, 5m, 1h or 30d"
        )
    length = float(form[1]) * _UNITS[form[2]]
    if length > _LONGEST_S:
        raise ConfigurationError(f"{option}: found {text!r}, wanted some years at most")
    if length < (least or 0.0) or (least is None and not length):
        wanted = "more than 0s" if least is None else f"{least:g}s at least"
        raise ConfigurationError(f"{option}: found {text!r}, wanted {wanted}")
    return length
