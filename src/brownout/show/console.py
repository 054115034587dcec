"""Whether a stream gets colours, and rich's console for it."""

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console_on", "has_colours"]


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def console_on(stream: TextIO) -> "Console":
    """Return a console that draws only on a terminal, without any style where no colours are."""
    from rich.console import Console

    return Console(
        file=stream,
        force_terminal=stream.isatty(),
        color_system="auto" if has_colours(stream) else None,
    )
