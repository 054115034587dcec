"""What a message must name, without its prose: `tests/test_frozen_words.py` says why."""

import re

__all__ = ["mentions", "naming"]


def naming(*parts: object) -> str:
    """Return a pattern for a text that holds each part as a word of its own, in any order."""
    return "(?s)^" + "".join(f"(?=.*{_whole(str(part))})" for part in parts)


def mentions(text: str, *parts: object) -> bool:
    """Whether `text` holds each part as a word of its own."""
    return re.search(naming(*parts), text) is not None


def _whole(part: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", part) else ""
    after = r"(?!\w)" if re.search(r"\w$", part) else ""
    return before + re.escape(part) + after
