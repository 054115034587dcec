"""Whether a stream gets colours, and rich's console for it."""

import logging
import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console_on", "has_colours", "without_colours"]


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def without_colours(logger: logging.Logger) -> None:
    """Take the colours out of a log of Chaos Toolkit that does not go to a terminal.

    chaostoolkit-lib 1.44 begins a colour on each line, also of a file, and ends it on terminals.
    """
    for handler in logger.handlers:
        if not isinstance(handler, logging.StreamHandler) or handler.stream.closed:
            continue
        if has_colours(handler.stream):
            continue
        if hasattr(handler.formatter, "_colors"):
            setattr(handler.formatter, "_colors", {})  # noqa: B010  (it is not ours)


def console_on(stream: TextIO) -> "Console":
    """Return a console that draws only on a terminal, without any style where no colours are."""
    from rich.console import Console

    return Console(
        file=stream,
        force_terminal=stream.isatty(),
        color_system="auto" if has_colours(stream) else None,
    )
