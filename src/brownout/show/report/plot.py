"""Small pictures as SVG: a grid, lines and marks, by the axes, colours and looks of the figures.

A picture stands by itself, with its colours in it, or takes those of the page that it is in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

from brownout.show.report.axes import Axis
from brownout.show.report.palette import LIGHT, LOOKS

__all__ = ["Form", "Plot"]

Dash = tuple[float, ...]
#: What became of a run or a step: `never` waited for what did not come.
Form = Literal["pass", "fail", "open", "never"]
_DISC = "m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0"
_FORMS: Final[Mapping[Form, str]] = {
    "pass": _DISC,
    "open": _DISC,
    "fail": "m-{r} -{r}l{d} {d}m0 -{d}l-{d} {d}",
    "never": "m0 -{r}l{r} {d}h-{d}z",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """`x` and `y` in a picture of `width` by `height` pixels; `top` of them are for titles.

    One `in_page` follows the scheme of its page, light or dark.
    """

    x: Axis
    y: Axis
    width: int = 640
    height: int = 400
    left: int = 70
    top: int = 50
    right: int = 30
    bottom: int = 60
    in_page: bool = False

    def at_x(self, value: float) -> float:
        """Return where a value of the x axis lies, in pixels."""
        return self.left + self.x.position(value) * (self.width - self.left - self.right)

    def at_y(self, value: float) -> float:
        """Return where a value of the y axis lies, in pixels; one beyond it at its edge."""
        span = self.height - self.top - self.bottom
        return self.height - self.bottom - min(1.0, self.y.position(value)) * span

    def svg(self, title: str, inside: Sequence[str], x_words: str = "", y_words: str = "") -> str:
        """Return the picture with `inside` drawn over its grid."""
        middle = (self.left + self.width - self.right) / 2
        parts = [
            f'<rect width="{self.width}" height="{self.height}" {self._paint("page")}/>',
            self.text(self.left, 24, title, "ink", bold=True),
            self.text(self.left, self.top - 10, y_words),
            self.text(middle, self.height - 16, x_words, anchor="middle"),
            *self._grid(),
            *inside,
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'font-family="system-ui, sans-serif" font-size="12" role="img" '
            f'aria-label="{escape(title)}">{"".join(parts)}</svg>\n'
        )

    def line(self, points: Sequence[tuple[float, float]], style: str) -> str:
        """Join points, in the values of the axes, as lines of this style look in every figure."""
        look = LOOKS[style]
        path = " ".join(f"{self.at_x(x):.1f},{self.at_y(y):.1f}" for x, y in points)
        paint = self._paint("", look.colour, look.width, look.dash)
        return f'<polyline points="{path}" {paint}/>'

    def mark(self, x: float, y: float, form: Form, colour: str, words: str, size: int = 4) -> str:
        """Mark a point: a dot passed, a cross failed, a ring is open, a triangle waits for ever.

        `words` are shown under a pointer.
        """
        path = f"M{self.at_x(x):.1f} {self.at_y(y):.1f}{_FORMS[form].format(r=size, d=2 * size)}"
        paint = self._paint({"fail": "", "open": "page"}.get(form, colour), colour, 2.0)
        return f'<path class="{form}" d="{path}" {paint}><title>{escape(words)}</title></path>'

    def rule(
        self, colour: str, *, x: float = 0.0, y: float | None = None, dash: Dash = (5, 4)
    ) -> str:
        """Draw a dashed line across the picture at a value of its y axis, else of its x axis."""
        right, bottom = self.width - self.right, self.height - self.bottom
        if y is not None:
            return self._edge((self.left, self.at_y(y), right, self.at_y(y)), colour, 1.5, dash)
        return self._edge((self.at_x(x), self.top, self.at_x(x), bottom), colour, 1.5, dash)

    def text(
        self, x: float, y: float, words: str, colour: str = "quiet", *,
        anchor: str = "start", bold: bool = False, form: str = "",
    ) -> str:  # fmt: skip
        """Write words at a place in pixels; nothing where there are none."""
        named = f' class="{form}"' if form else ""
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}'
        return words and f"<text{named} {place} {self._paint(colour)}>{escape(words)}</text>"

    def _colour(self, name: str) -> str:
        return f"var(--{name})" if self.in_page else LIGHT[name]

    def _grid(self) -> list[str]:
        bottom, right, left = self.height - self.bottom, self.width - self.right, self.left
        parts = []
        for tick in self.x.ticks:
            at = left + tick.position * (right - left)
            parts.append(self._edge((at, self.top, at, bottom), "grid"))
            parts.append(self.text(at, bottom + 18, tick.label, anchor="middle"))
        for tick in self.y.ticks:
            at = bottom - tick.position * (bottom - self.top)
            parts.append(self._edge((left, at, right, at), "grid"))
            parts.append(self.text(left - 8, at + 4, tick.label, anchor="end"))
        return parts

    def _edge(
        self, ends: tuple[float, ...], colour: str, width: float = 1.0, dash: Dash = ()
    ) -> str:
        x1, y1, x2, y2 = (f"{at:.1f}" for at in ends)
        paint = self._paint("", colour, width, dash)
        return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {paint}/>'

    def _paint(self, fill: str, stroke: str = "", width: float = 0.0, dash: Dash = ()) -> str:
        """Colours by name, as a style: a page's own rules do not override that."""
        filled = f"fill:{self._colour(fill) if fill else 'none'}"
        drawn = f";stroke:{self._colour(stroke)};stroke-width:{width:g}" if stroke else ""
        dashed = f";stroke-dasharray:{' '.join(f'{n:g}' for n in dash)}" if dash else ""
        return f'style="{filled}{drawn}{dashed}"'
