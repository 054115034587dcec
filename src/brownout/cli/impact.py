"""`brownout impact`: the measures on a series that another tool made."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from brownout.base.columns import aligned
from brownout.cli.arguments import Json
from brownout.cli.durations import duration_option, seconds

if TYPE_CHECKING:
    from brownout.measure import Fault, Findings

__all__ = ["impact"]

#: These need the operations that were wanted, not only those that were served.
BY_START = ("worst_second", "availability")

#: Measures that a bare series has.
ROWS = (
    "tps_drop",
    "mean_drop",
    "worst_second",
    "time_to_impact",
    "degraded_time",
    "blackout",
    "recovery_time",
    "settled_time",
    "availability",
    "lost_operations",
    "lost_seconds",
)


def impact(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A CSV file with a header.")],
    fault_at: Annotated[
        str, typer.Option(help="When the fault took effect, in the time column's own terms.")
    ],
    time: Annotated[str, typer.Option(help="The column with each row's time.")] = "t",
    ok: Annotated[str, typer.Option(help="The column with operations served per row.")] = "ok",
    offered: Annotated[
        str,
        typer.Option(help="The column with operations offered per row, by intended start."),
    ] = "",
    unit: Annotated[Literal["s", "ms"], typer.Option(help="Unit of a numeric time column.")] = "s",
    resolution: Annotated[
        str,
        duration_option("Also report the drop that a graph with points this far apart shows."),
    ] = "",
    as_json: Json = False,
) -> None:
    """Measure the dip in any time series: a time and a count of served operations per row.

    The time is a number or an ISO 8601 time; rows are evenly spaced. docs/measures.md defines
    every figure.
    """
    from dataclasses import replace

    from brownout.cli.foreign import read
    from brownout.measure import MeasureSettings, series_impact
    from brownout.measure.document import findings_document
    from brownout.measure.ranges import rounded

    found = read(file, time, ok, offered, unit, fault_at)
    apart = seconds(resolution, "--resolution") if resolution else None
    settings = replace(MeasureSettings.default(), resolution_s=apart)
    measured = rounded(
        series_impact(found.t, found.ok, found.offered, fault_at=found.fault_at, settings=settings)
    )
    if as_json:
        document = {"schema_version": 1, "source": str(file), **findings_document(measured)}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(measured)))


def _lines(measured: "Findings") -> list[str]:
    """The baseline and the measures of the fault, aligned."""
    from brownout.measure.measures import label
    from brownout.show.report.noise import stable_words
    from brownout.show.report.words import number, quantity

    base, fault = measured.figures, measured.faults[0]
    ends = base.interval
    interval = f" [{number(ends[0])}, {number(ends[1])}]" if ends else ""
    lines = [f"baseline {number(base.tps)}/s{interval}, {stable_words(base)}"]
    lines += [f"  {test.detail}" for test in base.tests if not test.ok]
    rows = [
        (label(name), _worded(fault, name, quantity))
        for name in ROWS
        if fault.number(name) is not None or name not in BY_START
    ]
    if (coarse := fault.number("tps_drop_at_resolution")) is not None:
        shown = quantity("tps_drop", coarse)
        rows.insert(1, ("  as a coarser graph shows it", shown))
    return [*lines, "", *aligned(rows)]


def _worded(fault: "Fault", name: str, quantity: Any) -> str:
    value, sham = fault.number(name), fault.number("tps_drop_sham")
    if name == "time_to_impact" and value is None:
        return "no impact"
    words: str = quantity(name, value)
    if name == "tps_drop" and sham is not None:
        words += f"  (noise {quantity(name, sham)})"
    return words
