"""`brownout trend`: a long load interval by interval, and whether it decays."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.cli.arguments import Json
from brownout.cli.load import seconds

__all__ = ["trend"]


def trend(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of a run or of a `brownout load`.")
    ],
    every: Annotated[str, typer.Option(help="The length of an interval.")] = "60s",
    skip: Annotated[str, typer.Option(help="Leave out this much of the beginning.")] = "",
    svg: Annotated[Path | None, typer.Option(help="Also draw it into this file.")] = None,
    as_json: Json = False,
) -> None:
    """Show a long load over time: throughput, percentiles, size of the data, and their trends."""
    from brownout.run.longrun import intervals
    from brownout.show.report import trend as words

    length = seconds(every, "--every")
    if length < 1:
        raise ConfigurationError(f"--every: found {every!r}, wanted 1 s at least")
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
    picture = words.svg(directory.name, rows) if svg is not None else None
    if svg is not None and picture is None:
        typer.echo("brownout: no picture: there are fewer than two intervals", err=True)
    elif svg is not None and picture is not None:
        svg.write_text(picture, encoding="utf-8")
