"""A table of the report before it is drawn: a caption, columns, rows of words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "Column", "Grid", "Words", "columns", "flatten"]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; `style` is `n` for numbers, `wrap` for prose, `once` for what must not break."""

    name: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """Words with a look: `met yes`, `met no`, `met unknown`, `quiet`, `code`."""

    words: str
    style: str = ""
    anchor: str = ""


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
