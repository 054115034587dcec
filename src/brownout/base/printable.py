"""Text from an untrusted file, made safe for a terminal.

A terminal obeys what follows an escape: it hides lines, sets titles, answers as if a person typed.
"""

import re
from typing import Any

__all__ = ["printable"]

#: C0 without tab and line ends, DEL, C1, and the marks that turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(value: Any) -> Any:
    """Return a text, or plain data, with each control character as `\\x1b`; line ends stay."""
    if isinstance(value, str):
        return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], value)
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value
