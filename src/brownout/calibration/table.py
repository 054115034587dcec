"""The rows of a calibration as people read them: on a terminal, and in Markdown. Pure."""

from collections.abc import Sequence

from brownout.calibration.judgement import Row, Value
from brownout.measure.measures import label
from brownout.show.report.grid import Grid, columns

__all__ = ["as_cells", "grid", "markdown", "notes", "summary"]

HEAD = "scenario | figure | truth:n | measured:n | error:n | wanted:n | within"
#: What is compared beside the measures.
WORDS = {
    "drop": "drop, 1 s mean",
    "edges": "edges",
    "edges_by_throughput": "edges, from ok alone",
    "recovery": label("recovery_time"),
    "never_recovers": label("recovery_time"),
    "lane_share": "mean drop of the whole",
    "lost_keys": "keys with lost writes",
    "late_keys": "keys overwritten late",
}
STATES = {"within": "yes", "out": "OUT", "untold": "not claimed", "unmeasured": "NOT MEASURED"}
_NONE = "–"
#: Significant digits of a percentage.
_DIGITS = 3


def _words(figure: str) -> str:
    return WORDS.get(figure) or label(figure)


def grid(rows: Sequence[Row], title: str = "") -> Grid:
    """Return the rows as a table."""
    return Grid(title, columns(HEAD), as_cells(rows))


def markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown, and why a figure is not as wanted."""
    lines = [f"* {note}" for note in notes(rows)]
    return "\n".join([grid(rows).markdown(), *(["", *lines] if lines else [])])


def as_cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return each row in words; a scenario is named in its first row."""
    cells: list[tuple[str, ...]] = []
    before = ""
    for row in rows:
        cells.append(
            (
                row.scenario if row.scenario != before else "",
                _words(row.figure),
                _value(row, row.truth),
                _value(row, row.measured),
                _NONE if row.error is None else _amount(row, row.error, signed=True),
                _wanted(row),
                STATES[row.state],
            )
        )
        before = row.scenario
    return cells


def notes(rows: Sequence[Row]) -> list[str]:
    """Return why a figure is not as wanted, each reason once: `lane-6s: one lane had 19.9 %`."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.note and row.state != "within":
            reasons.setdefault(row.note, []).append(f"{row.scenario}, {_words(row.figure)}")
    return [f"{where[0]}{_more(where)}: {note}" for note, where in reasons.items()]


def _more(where: Sequence[str]) -> str:
    return f" and {len(where) - 1} more" if len(where) > 1 else ""


def summary(rows: Sequence[Row]) -> str:
    """`41 figures: 38 within, 1 out, 2 not claimed, 0 not measured`."""
    counts = {state: sum(row.state == state for row in rows) for state in STATES}
    return (
        f"{len(rows)} figures: {counts['within']} within, {counts['out']} out, "
        f"{counts['untold']} not claimed, {counts['unmeasured']} not measured"
    )


def _value(row: Row, value: Value) -> str:
    if row.figure == "never_recovers" and row.state != "unmeasured":
        return "never" if value is None else _amount(row, float(str(value)))
    if value is None:
        return _NONE
    if isinstance(value, list):
        return ", ".join(f"{start:.2f} to {end:.2f} s" for start, end in value) or "none"
    return _amount(row, value)


def _wanted(row: Row) -> str:
    if row.state in ("unmeasured", "untold") or row.figure == "never_recovers":
        return _NONE
    return f"± {_amount(row, row.wanted)}" if row.wanted else "exact"


def _amount(row: Row, amount: float, signed: bool = False) -> str:
    sign = "-" if amount < 0 else "+" if signed else ""
    return sign + row.unit.words(abs(amount), _DIGITS)
