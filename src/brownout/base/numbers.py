"""Numbers that people write as text: in options, variables and limits."""

import re

__all__ = ["plain_number"]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def plain_number(text: str) -> int | float:
    """Return the number in a text, whole where it is written so.

    Python's own `float` also takes `1_0`, digits of other scripts, `nan` and `infinity`. Raises
    `ValueError` for these and for whatever else is not a decimal number.
    """
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise ValueError(text)
    try:
        return int(stripped)
    except ValueError:
        return float(stripped)
