"""Times as people write them in options and files: `30s`, `5m`, `8w`, always with a unit.

A bare number is refused: it does not show whether it means seconds or milliseconds.
"""

import re

__all__ = ["DURATION_PATTERN", "parse_duration"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_LONGEST_S = 100 * 365 * 86400.0
#: The form of a duration, for schemas.
DURATION_PATTERN = rf"^(\d+(?:\.\d+)?)({'|'.join(_UNITS)})$"
_FORM = re.compile(DURATION_PATTERN)


def parse_duration(text: str) -> float:
    """Return the seconds of `250ms`, `30s`, `1.5m`, `1h`, `30d` or `8w`.

    Raises `ValueError`, which says what was wanted, for anything else and for more than a century.
    """
    form = _FORM.match(text.strip())
    if form is None:
        raise ValueError("wanted a time with its unit, as 500ms, 30s, 5m, 1h or 30d")
    length = float(form[1]) * _UNITS[form[2]]
    if length > _LONGEST_S:
        raise ValueError("wanted some years at most")
    return length
