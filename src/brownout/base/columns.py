"""Rows of words as lines in columns, for a terminal."""

from collections.abc import Collection, Sequence

from rich.cells import cell_len

__all__ = ["aligned"]


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return a line for each row, its cells two spaces apart, those of the columns `right` flush
    right. A character that a terminal shows as wide as two counts as two."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def padded(place: int, cell: str) -> str:
        gap = " " * (widths[place] - cell_len(cell))
        return gap + cell if place in right else cell + gap

    return ["  ".join(padded(*each) for each in enumerate(row)).rstrip() for row in rows]
