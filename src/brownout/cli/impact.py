"""`brownout impact`: the measures on a series that another tool made."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from brownout.base.columns import aligned
from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Json
from brownout.cli.durations import duration_option, seconds

if TYPE_CHECKING:
    from brownout.measure import Fault, Findings
    from brownout.run.foreign import ForeignSeries

__all__ = ["impact"]

#: These need the operations that were wanted, not only those that were served.
BY_START = ("worst_second", "availability", "errors")

#: An outage that rows may hide is said from here on.
_HIDDEN_S = 0.5
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
    "errors",
    "lost_operations",
    "lost_seconds",
)


def impact(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV file, or the output of a tool.")
    ],
    fault_at: Annotated[
        str, typer.Option(help="When the fault took effect, in the time column's own terms.")
    ],
    time: Annotated[
        str, typer.Option(help="The column with each row's time.", show_default="t")
    ] = "",
    ok: Annotated[
        str,
        typer.Option(
            help="The column with operations served, or with each request's success.",
            show_default="ok",
        ),
    ] = "",
    offered: Annotated[
        str,
        typer.Option(help="The column with operations offered per row, by intended start."),
    ] = "",
    unit: Annotated[
        Literal["s", "ms", "us", "ns"] | None,
        typer.Option(help="Unit of a numeric time column.", show_default="by its magnitude"),
    ] = None,
    stamp: Annotated[
        Literal["start", "end"] | None,
        typer.Option(help="Whether a row's time is its beginning or its end."),
    ] = None,
    rate: Annotated[
        bool | None,
        typer.Option("--rate/--no-rate", help="Numbers are rates per second, not counts."),
    ] = None,
    counter: Annotated[
        bool | None,
        typer.Option("--counter/--no-counter", help="Numbers are running totals, not counts."),
    ] = None,
    gaps: Annotated[
        Literal["zero", "unknown", "error"] | None,
        typer.Option(help="What missing rows mean: nothing served, or nothing known."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Keep only the rows with this value."),
    ] = None,
    format: Annotated[
        str, typer.Option(help="The tool that wrote the file.", show_default="recognised")
    ] = "",
    resolution: Annotated[
        str,
        duration_option("Also report the drop that a graph with points this far apart shows."),
    ] = "",
    as_json: Json = False,
) -> None:
    """Measure the dip in the output of another tool, or in any table of times and counts.

    It reads k6, Locust, JMeter, Gatling, vegeta, hey, YCSB, pgbench, sysbench, cassandra-stress,
    asbench, memtier, NoSQLBench, TSBS, HdrHistogram logs, Prometheus, Grafana, and CSV.
    """
    from dataclasses import replace

    from brownout.measure import MeasureSettings, series_impact
    from brownout.measure.document import findings_document
    from brownout.measure.ranges import rounded
    from brownout.run.foreign import FORMATS, Options, read

    if format not in ("", *FORMATS):
        raise ConfigurationError(
            f"--format: found {format!r}, wanted one of {', '.join(FORMATS)}",
            "leave it out to have the tool recognised",
        )
    options = Options(
        fault_at=fault_at,
        time=time,
        ok=ok,
        offered=offered,
        unit=unit or "",
        stamp=stamp,
        rate=rate,
        counter=counter,
        gaps=gaps,
        where=tuple(_pair(each) for each in where or ()),
        format=format,
    )
    series = read(file, options)
    apart = seconds(resolution, "--resolution") if resolution else None
    settings = MeasureSettings.default()
    least = max(settings.blackout_operations, series.silence)
    settings = replace(settings, resolution_s=apart, blackout_operations=least)
    reported = [not math.isnan(count) for count in series.ok]
    measured = rounded(
        series_impact(
            series.start,
            [0.0 if math.isnan(count) else count for count in series.ok],
            series.offered,
            fault_at=series.fault_at,
            until=series.end,
            reported=reported,
            most=series.most,
            settings=settings,
        )
    )
    if not measured.figures.tps:
        raise ConfigurationError(
            f"{file}: nothing was served before the fault, so there is no baseline",
            "check --fault-at, --ok and --unit",
        )
    if as_json:
        document = {
            "schema_version": 1,
            "source": str(file),
            "format": series.format,
            "row_s": series.row_s,
            "notes": [*series.notes],
            **findings_document(measured),
        }
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(measured, series)))


def _pair(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not (column and equals):
        raise ConfigurationError(f"--where: found {text!r}, wanted COLUMN=VALUE")
    return column, value


def _lines(measured: "Findings", series: "ForeignSeries") -> list[str]:
    """How the file was read, the baseline and the measures of the fault, aligned."""
    from brownout.measure.measures import label
    from brownout.show.report.noise import detectable_words, stable_words
    from brownout.show.report.words import number, quantity

    base, fault = measured.figures, measured.faults[0]
    ends = base.interval
    interval = f" [{number(ends[0])}, {number(ends[1])}]" if ends else ""
    lines = [f"{series.notes[0]}, rows of {series.row_s:g} s", *series.notes[1:], ""]
    lines += [f"baseline {number(base.tps)}/s{interval}, {stable_words(base)}"]
    lines += [f"  {test.detail}" for test in base.tests if not test.ok]
    if base.detectable_drop is not None and not base.stable:
        lines.append(f"  {detectable_words(base.detectable_drop)}")
    rows = [
        (label(name), _worded(fault, name, quantity))
        for name in ROWS
        if fault.number(name) is not None or name not in BY_START
        if name != "errors" or series.offered is not None
    ]
    if (coarse := fault.number("tps_drop_at_resolution")) is not None:
        shown = quantity("tps_drop", coarse)
        rows.insert(1, ("  as a coarser graph shows it", shown))
    hidden_s = series.row_s * (base.theta or 0.0)
    if any(fault.range(name) for name in ROWS) or hidden_s >= _HIDDEN_S:
        words = f"a row of {series.row_s:g} s"
        if series.offered is None:
            words += f": an outage of less than {hidden_s:.2g} s is not seen"
        rows.append(("resolution", words))
    return [*lines, "", *aligned(rows)]


def _worded(fault: "Fault", name: str, quantity: Any) -> str:
    from brownout.show.report.words import between

    value, sham = fault.number(name), fault.number("tps_drop_sham")
    if name == "time_to_impact" and value is None:
        hidden = fault.number("degraded_time") is None
        return "no data: the noise hides it" if hidden else "no impact"
    if value is None and fault.number("degraded_time") is None and name != "blackout":
        return "no data: the noise hides it"
    ends = fault.range(name)
    words: str = between(ends, lambda end: quantity(name, end), value)
    if ends and ends[0] == 0 and ends[1]:
        words = f"up to {quantity(name, ends[1])}"
    if name == "tps_drop" and sham is not None:
        words += f"  (noise {quantity(name, sham)})"
    return words
