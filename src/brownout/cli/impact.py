"""`brownout impact`: the measures on a series that another tool made."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from brownout.cli.arguments import Json

if TYPE_CHECKING:
    from brownout.measure import Impact

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
        str, typer.Option(help="When the fault took effect: as the time column says times.")
    ],
    time: Annotated[str, typer.Option(help="The column with each row's time.")] = "t",
    ok: Annotated[str, typer.Option(help="The column with operations served per row.")] = "ok",
    offered: Annotated[
        str,
        typer.Option(help="The column with operations wanted per row, by intended start; or none."),
    ] = "",
    unit: Annotated[
        Literal["s", "ms"], typer.Option(help="Of a time column that holds numbers.")
    ] = "s",
    resolution: Annotated[
        float | None, typer.Option(help="Also the drop that a graph of so many seconds shows.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the dip in anybody's series: a time and a count of served operations a row.

    The time is a number or an ISO 8601 time; rows are evenly spaced. What every figure means is
    in docs/measures.md.
    """
    from dataclasses import replace

    from brownout.cli.foreign import read
    from brownout.measure import MeasureSettings, as_document, series_impact

    found = read(file, time, ok, offered, unit, fault_at)
    settings = replace(MeasureSettings.default(), resolution_s=resolution)
    measured = series_impact(
        found.t, found.ok, found.offered, fault_at=found.fault_at, settings=settings
    )
    if as_json:
        document = {"schema_version": 1, "source": str(file), **as_document(measured)}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(measured)))


def _lines(measured: "Impact") -> list[str]:
    """The baseline and the measures of the fault, aligned."""
    from brownout.measure import as_document
    from brownout.measure.measures import label
    from brownout.show.report.noise import stable_words
    from brownout.show.report.words import number, quantity

    document = as_document(measured)
    base, fault = document["baseline"], document["faults"][0]
    interval = "" if base["low"] is None else f" [{number(base['low'])}, {number(base['high'])}]"
    lines = [f"baseline {number(base['tps'])}/s{interval}, {stable_words(base)}"]
    lines += [f"  {test['detail']}" for test in base["tests"] if not test["ok"]]
    rows = [
        (label(name), _worded(fault, name, quantity))
        for name in ROWS
        if fault[name] is not None or name not in BY_START
    ]
    if fault.get("tps_drop_at_resolution") is not None:
        shown = quantity("tps_drop", fault["tps_drop_at_resolution"])
        rows.insert(1, ("  as a coarser graph shows it", shown))
    width = max(len(words) for words, _ in rows)
    return [*lines, "", *(f"{words.ljust(width)}  {value}" for words, value in rows)]


def _worded(fault: dict[str, Any], name: str, quantity: Any) -> str:
    value = fault[name]
    if name == "time_to_impact" and value is None:
        return "no impact"
    words: str = quantity(name, value)
    if name == "tps_drop" and fault["tps_drop_sham"] is not None:
        words += f"  (noise {quantity(name, fault['tps_drop_sham'])})"
    return words
