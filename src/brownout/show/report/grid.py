"""A table before it is drawn: a caption, columns, rows of words; as text, Markdown or on a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from brownout.base.columns import aligned

__all__ = ["Cell", "Column", "Grid", "Words", "columns", "escaped", "flatten"]


#: Characters of a strip of dots.
_STRIP = 12


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `style` is `n` for numbers, `wrap` for prose, `once` for what must not break."""

    name: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """Words with a look: `met yes`, `met no`, `met unknown`, `quiet`, `code`.

    `anchor` is what links name the row by, of its first cell; `link` is where the words lead to.
    `dots` are the runs that the words sum up, each from 0 to 1 on the scale of its row; infinite
    is what never came.
    """

    words: str
    style: str = ""
    anchor: str = ""
    link: str = ""
    dots: tuple[float, ...] = ()

    @property
    def markdown(self) -> str:
        """The words as Markdown, with their link, and the dots."""
        words = escaped(self.words)
        words = f"[{words}]({self.link})" if self.link else words
        return f"{words} `{self.strip}`" if self.dots else words

    @property
    def plain(self) -> str:
        """The words and the dots for a terminal."""
        return f"{self.words}  {self.strip}" if self.dots else self.words

    @property
    def strip(self) -> str:
        """The dots as text: `[·   3     ·]` is a low run, three alike, and the highest.

        `>` is what never came.
        """
        places = [min(_STRIP - 1, int(dot * _STRIP)) for dot in self.dots if isfinite(dot)]
        marks = [
            " " if not (n := places.count(place)) else "·" if n == 1 else str(min(n, 9))
            for place in range(_STRIP)
        ]
        return f"[{''.join(marks)}{'>' if len(places) < len(self.dots) else ']'}"


def columns(names: str) -> list[Column]:
    """Columns from `measure | found:n | why:wrap`."""
    pairs = [name.strip().partition(":") for name in names.split("|")]
    return [Column(name, style) for name, _, style in pairs]


Words = Sequence[str | Cell]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; the first cell of a row is its heading. `note` stands beneath it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Words]
    note: str = ""

    def styled(self) -> list[list[Cell]]:
        """The rows with every cell a `Cell`."""
        return [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in self.rows]

    def words(self) -> list[list[str]]:
        """The rows as words alone."""
        return [[cell.words for cell in row] for row in self.styled()]

    def records(self) -> list[dict[str, str]]:
        """The rows as words by the names of their columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.words()]

    def plain(self) -> str:
        """The table for a terminal, numbers to the right, its caption above and its note below."""
        plain = [[cell.plain for cell in row] for row in self.styled()]
        rows = [[column.name for column in self.columns], *plain]
        numbers = [place for place, column in enumerate(self.columns) if column.style == "n"]
        return "\n".join(filter(None, [self.caption, *aligned(rows, right=numbers), self.note]))

    def markdown(self) -> str:
        """The table as Markdown, its caption in bold above it."""
        heads = [escaped(column.name) or " " for column in self.columns]
        rule = ["--:" if column.style == "n" else "---" for column in self.columns]
        rows = [[cell.markdown for cell in row] for row in self.styled()]
        head = [f"**{escaped(self.caption)}**", ""] if self.caption else []
        table = ["| " + " | ".join(row) + " |" for row in (heads, rule, *rows)]
        return "\n".join([*head, *table, *(["", escaped(self.note)] if self.note else [])])


def escaped(text: str) -> str:
    """Keep a table's bars and a browser's brackets from meaning something."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def flatten(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Nested settings as `streams.0.rate` and their values; empty ones as a dash."""
    pairs: list[tuple[str, str]] = []
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            pairs += flatten(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        for index, inner in enumerate(value):
            pairs += flatten(inner, f"{path}.{index}" if path else str(index))
    else:
        pairs.append((path, _words(value)))
    return pairs


def _words(value: Any) -> str:
    if value is None or value in ("", [], (), {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)
