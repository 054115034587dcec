"""Text with a separator: the header, the rows by name, and which of them are wanted."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from brownout.run.foreign.cells import clock_of
from brownout.run.foreign.series import MOST_ROWS, refused, shortened
from brownout.run.foreign.source import Source

__all__ = ["Cells", "Delimited"]

_SEPARATORS = (",", ";", "\t", "|")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row by column, and the line it stands on."""

    line: int
    by_name: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.by_name[column]


@dataclass(frozen=True, slots=True)
class Delimited:
    """A file with a header and a row a line. `before` lines stand before the header.

    `notes` say what was left out of it, once its rows were read to the end.
    """

    source: Source
    separator: str
    header: tuple[str, ...]
    before: int
    notes: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, source: Source) -> "Delimited":
        """Find the separator and the header.

        Raises `ConfigurationError` for a header that has a name twice.
        """
        lines = source.head.splitlines()
        before, separator = 0, ""
        while before < len(lines) and (not lines[before].strip() or lines[before][:1] == "#"):
            before += 1
        if before < len(lines) and lines[before].lower().startswith("sep="):
            separator = lines[before][4:5] or ","
            before += 1
        first = lines[before] if before < len(lines) else ""
        separator = separator or max(_SEPARATORS, key=first.count)
        if separator in '"\r\n':
            raise refused(f"{source.path}:{before}: `sep=` names no separator")
        try:
            cells = next(csv.reader([first], delimiter=separator), [])
        except csv.Error as error:
            raise refused(f"{source.path}:{before + 1}: is not a header: {error}") from error
        header = tuple(name.strip() for name in cells)
        twice = [name for name in dict.fromkeys(header) if name and header.count(name) > 1]
        if twice:
            raise refused(
                f"{source.path}:{before + 1}: the header has the column {shortened(twice[0])} "
                f"{header.count(twice[0])} times",
                "rename one of them",
            )
        return cls(source, separator, header, before)

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma may stand for the decimal point: it does not separate cells."""
        return self.separator != ","

    def check(self, columns: Sequence[tuple[str, str]]) -> None:
        """Refuse a column that is not there; `columns` are pairs of an option and a column."""
        for option, column in columns:
            if column not in self.header:
                shown = [shortened(name, 30)[1:-1] for name in self.header if name][:_SHOWN]
                more = len(self.header) - len(shown)
                raise refused(
                    f"{self.source.path}: has no column {shortened(column)}; found "
                    f"{', '.join(shown) or 'no header'}{f' and {more} more' if more > 0 else ''}",
                    f"name it by {option}, or the tool by --format",
                )

    def rows(self, where: Sequence[tuple[str, str]] = ()) -> Iterator[Cells]:
        """Yield the rows in which each column of `where` has its value.

        Raises `ConfigurationError` for a row with more or fewer cells than the header has. A last
        row that is cut short is left out: its writer was stopped. So is a summary below the last
        row, as tools print it: rows with fewer cells that begin with neither a number nor a time.
        """
        path, width = self.source.path, len(self.header)
        short = footer = 0
        reader = csv.reader(self._text(), delimiter=self.separator)
        try:
            for number, cells in enumerate(reader):
                if number >= 60 * MOST_ROWS:
                    raise refused(f"{path}: has more than {60 * MOST_ROWS:,} rows, wanted fewer")
                line = self.before + 1 + reader.line_num
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) < width and not _is_moment(cells[0]):
                    footer = footer or line
                    continue
                if short or footer:
                    raise _wrong_width(path, short or footer, "fewer", width)
                if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                    raise _wrong_width(path, line, "more", width)
                if len(cells) < width:
                    short = line
                    continue
                row = Cells(line, dict(zip(self.header, cells, strict=False)))
                if all(row[column].strip() == value for column, value in where):
                    yield row
        except csv.Error as error:
            raise refused(
                f"{path}:{self.before + 1 + reader.line_num}: cannot be read: {error}"
            ) from error
        note = f"line {footer} and those below it are a summary, not rows, and were left out"
        if footer and note not in self.notes:
            self.notes.append(note)

    def _text(self) -> Iterator[str]:
        lines = self.source.lines()
        for _ in range(self.before + 1):
            next(lines, None)
        return (line + "\n" for line in lines)


def _is_moment(cell: str) -> bool:
    try:
        clock_of(cell, "")
    except (ValueError, OverflowError):
        return False
    return True


def _wrong_width(path: object, line: int, how: str, width: int) -> Exception:
    return refused(
        f"{path}:{line}: has {how} cells than the header, which has {width}",
        "quote a cell that holds the separator, or remove the row",
    )
