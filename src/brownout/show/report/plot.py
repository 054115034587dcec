"""A plain plot as SVG that stands by itself: two axes with a grid, a place for each value."""

from dataclasses import dataclass
from html import escape

from brownout.show.report.axes import Axis

__all__ = ["INK", "Plot"]

INK, GREY = "#1a1a1a", "#c8c8c8"


@dataclass(frozen=True, slots=True)
class Plot:
    """`x` and `y` in a picture of `width` by `height`; `top` pixels are left for titles."""

    x: Axis
    y: Axis
    width: int = 640
    height: int = 400
    left: int = 70
    top: int = 50
    right: int = 30
    bottom: int = 60

    def at_x(self, value: float) -> float:
        """Return where a value of the x axis lies, in pixels."""
        return self.left + self.x.position(value) * (self.width - self.left - self.right)

    def at_y(self, value: float) -> float:
        """Return where a value of the y axis lies, in pixels."""
        span = self.height - self.top - self.bottom
        return self.height - self.bottom - self.y.position(value) * span

    def svg(self, title: str, x_words: str, y_words: str, inside: str) -> str:
        """Return the picture with `inside` drawn over its grid."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'font-family="sans-serif" font-size="12" fill="{INK}">'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>'
            f'<text x="{self.left}" y="24" font-size="15">{escape(title)}</text>'
            f"{self._grid(x_words, y_words)}{inside}</svg>\n"
        )

    def _grid(self, x_words: str, y_words: str) -> str:
        bottom, right, left = self.height - self.bottom, self.width - self.right, self.left
        parts = []
        for tick in self.x.ticks:
            at = left + tick.position * (right - left)
            parts.append(_edge(at, self.top, at, bottom))
            parts.append(_text(at, bottom + 18, "middle", tick.label))
        for tick in self.y.ticks:
            at = bottom - tick.position * (bottom - self.top)
            parts.append(_edge(left, at, right, at))
            parts.append(_text(left - 8, at + 4, "end", tick.label))
        parts.append(_text((left + right) / 2, self.height - 16, "middle", x_words))
        parts.append(_text(left, self.top - 10, "start", y_words))
        return "".join(parts)


def _edge(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{GREY}"/>'


def _text(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
