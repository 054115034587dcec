"""`brownout trend`: a long load interval by interval, and whether it decays."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.cli.arguments import Json
from brownout.cli.durations import duration_option, seconds
from brownout.cli.output import by_format, output_option

__all__ = ["trend"]


def trend(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of a run or of a `brownout load`.")
    ],
    every: Annotated[str, duration_option("The length of an interval.")] = "60s",
    skip: Annotated[str, duration_option("Leave out this much of the beginning.")] = "",
    output: Annotated[Path | None, output_option("Also draw it into FILE.svg.")] = None,
    as_json: Json = False,
) -> None:
    """Show a long load over time: throughput, percentiles, size of the data, and their trends."""
    from brownout.run.longrun import intervals
    from brownout.show.report import trend as words

    outputs = by_format([output] if output else [], ".svg")
    length = seconds(every, "--every", 1)
    if not (directory / "series.csv").is_file():
        raise RunDirectoryError(f"{directory}: has no series.csv, wanted a run or a load")
    rows = intervals(directory, length, seconds(skip, "--skip") if skip else 0.0)
    if not rows:
        raise ConfigurationError(f"{directory}: is shorter than one interval of {length:g} s",
                                 "take a shorter --every")  # fmt: skip
    if as_json:
        typer.echo(json.dumps(words.document(rows, length), indent=2))
    else:
        typer.echo(words.render(rows))
    for _, file in outputs:
        picture = words.svg(directory.name, rows)
        if picture is None:
            typer.echo("brownout: no picture: there are fewer than two intervals", err=True)
        else:
            file.write_text(picture, encoding="utf-8")
