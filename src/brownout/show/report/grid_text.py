"""A table as plain text for a terminal, and as Markdown. Pure."""

from brownout.show.report.grid import Grid

__all__ = ["escaped", "markdown", "plain"]


def plain(grid: Grid) -> str:
    """Return the table in columns, numbers to the right, with its caption above."""
    rows = [[column.name for column in grid.columns]]
    rows += [[cell.words for cell in row] for row in grid.styled()]
    widths = [max(len(row[place]) for row in rows) for place in range(len(grid.columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if column.style == "n" else cell.ljust(width)
            for cell, width, column in zip(row, widths, grid.columns, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([grid.caption, *lines, *([grid.note] if grid.note else [])])


def markdown(grid: Grid) -> str:
    """Return the table as Markdown, its caption in bold above it."""
    heads = [escaped(column.name) or " " for column in grid.columns]
    rule = ["--:" if column.style == "n" else "---" for column in grid.columns]
    rows = [[escaped(cell.words) for cell in row] for row in grid.styled()]
    table = ["| " + " | ".join(row) + " |" for row in (heads, rule, *rows)]
    note = ["", escaped(grid.note)] if grid.note else []
    return "\n".join([f"**{escaped(grid.caption)}**", "", *table, *note])


def escaped(text: str) -> str:
    """Keep a table's bars and a browser's brackets from meaning something."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
