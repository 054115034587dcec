"""`brownout calibrate`: the instrument against known truth."""

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Measure a server whose dips are known.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Measure a server whose dips are known."""


@app.command()
def serve(
    script: Annotated[Path, typer.Argument(help="What it does when; see docs/generator.md.")],
    listen: Annotated[str, typer.Option(help="Where it listens.")] = "127.0.0.1:0",
    truth: Annotated[
        Path | None, typer.Option(help="Write what it really did there, when it is stopped.")
    ] = None,
) -> None:
    """Serve the scripted server until stopped; its address is printed as a line of JSON."""
    from brownout.load.binary import find_loadgen

    binary = str(find_loadgen())
    kept = [] if truth is None else ["--truth", str(truth)]
    os.execv(binary, [binary, "serve", "--listen", listen, *kept, str(script)])
