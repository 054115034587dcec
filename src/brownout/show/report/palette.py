"""The colours: Okabe and Ito's, shifted so that each stands out from its page, light or dark.

A figure never relies on them alone: its lines differ by dash, its verdicts by word and sign. The
tests hold every colour to the contrast that WCAG 2.2 asks (4.5 for text, 3 for lines) and the
lines of a figure apart for people who see no red, no green or no blue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["DARK", "LIGHT", "LINES", "LOOKS", "PAPER", "TEXT", "Look", "css", "looks_css"]

Palette = Mapping[str, str]

LIGHT: Final[Palette] = {
    "page": "#ffffff", "card": "#fbfbf9", "sunk": "#f2f2ee", "plot": "#fcfcfa",
    "ink": "#1b1e23", "quiet": "#5b626b", "rule": "#dcdcd6", "grid": "#e8e8e3", "axis": "#9a9fa6",
    "link": "#0a5a94", "focus": "#0072b2",
    "good": "#00704f", "bad": "#b93a00", "unsure": "#7d5a00",
    "first": "#0072b2", "second": "#c24a00", "third": "#00805d", "fourth": "#a0468a",
    "raw": "#a9b2bd", "dip": "#f7d9c9",
}  # fmt: skip

DARK: Final[Palette] = {
    "page": "#14171b", "card": "#1b1f25", "sunk": "#20252c", "plot": "#181c21",
    "ink": "#e9ebee", "quiet": "#a3abb6", "rule": "#343a43", "grid": "#282d34", "axis": "#6d7682",
    "link": "#7cc4f2", "focus": "#56b4e9",
    "good": "#3ccb9d", "bad": "#ff8a57", "unsure": "#f0c24b",
    "first": "#56b4e9", "second": "#ff8a57", "third": "#3ccb9d", "fourth": "#e39bc8",
    "raw": "#59636f", "dip": "#4a2a1d",
}  # fmt: skip

#: Paper takes the light colours, with a white ground.
PAPER: Final[Palette] = {**LIGHT, "card": "#ffffff", "plot": "#ffffff"}

#: The colours of words, and those of lines, for the tests of contrast.
TEXT: Final = ("ink", "quiet", "link", "good", "bad", "unsure")
LINES: Final = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Look:
    """How a line of a chart's `style` is drawn: a colour by name, a width and a dash in pixels."""

    colour: str
    width: float = 1.8
    dash: tuple[float, ...] = ()


LOOKS: Final[Mapping[str, Look]] = {
    "total": Look("ink", 2.0),
    "raw": Look("raw", 1.0),
    "offered": Look("quiet", 1.3, (2, 4)),
    "read": Look("first"),
    "write": Look("second", dash=(8, 4)),
    "p50": Look("first", dash=(9, 4)),
    "p99": Look("second", 2.2),
    "p999": Look("third", dash=(3, 3)),
    "max": Look("quiet", 3.2),
    "before": Look("first"),
    "during": Look("second", dash=(8, 4)),
    "after": Look("third", dash=(3, 3)),
    "all": Look("ink", dash=(12, 4, 2, 4)),
    "ok": Look("first", 1.0),
    "bad": Look("second", 2.0),
    "cause": Look("second", 1.0),
    "late": Look("fourth", 1.0),
    "failed": Look("second", 1.0),
    "in_doubt": Look("second", 1.0),
    "shed": Look("second", 1.0),
    "missed": Look("quiet", 1.0),
    "one": Look("first", 2.0),
    "two": Look("second", 2.0, (8, 4)),
    "three": Look("third", 2.0, (3, 3)),
    "four": Look("fourth", 2.0, (12, 4)),
    "five": Look("ink", 1.6, (12, 4, 2, 4)),
    "six": Look("quiet", 1.6, (2, 4)),
}


def css(palette: Palette) -> str:
    """The palette as CSS custom properties."""
    return "\n".join(f"  --{name}: {colour};" for name, colour in palette.items())


def looks_css() -> str:
    """The looks as CSS classes: `.s-read { … }`."""
    return "\n".join(
        f".s-{name} {{ --c: var(--{look.colour}); stroke-width: {look.width:g};"
        f" stroke-dasharray: {' '.join(f'{n:g}' for n in look.dash) or 'none'}; }}"
        for name, look in LOOKS.items()
    )
