"""`brownout compare`: one scenario on several systems, versions or settings, side by side."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Json, complete_run
from brownout.cli.output import by_format, output_option

__all__ = ["compare"]


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Runs, or NAME=RUN; several of one system are its repeats.",
            metavar="RUN…",
            autocompletion=complete_run,
        ),
    ],
    output: Annotated[
        Path | None, output_option("Write one self-contained page into FILE.html.")
    ] = None,
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Compare although stand-ins, loops, resolutions, deadlines, variables or steps "
            "differ.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare runs of one scenario: summary, throughput, response time, cost.

    Refuses (exit code 64) to mix stand-ins with real systems, or different loops, resolutions,
    deadlines, variables or steps of the experiment. With --mixed it compares them and says so.
    """
    from brownout.runs.compare import page, systems
    from brownout.runs.run_set import Runs

    outputs = by_format([output] if output else [], ".html")
    pairs = [_pair(text) for text in runs]
    systems_runs = Runs.read([run for _, run in pairs])
    names = [name for name, _ in pairs]
    sorted_ = systems.sort(list(zip(names, systems_runs, strict=True)))
    warnings = systems.mixtures(sorted_)
    if warnings and not mixed:
        raise ConfigurationError(warnings, "--mixed compares all the same, and says so")
    notes = systems.remarks(sorted_)
    remarks = [*(f"MIXED: {warning}" for warning in warnings), *notes]
    for _, path in outputs:
        from brownout.show.report.html import save

        save(path, page.render(sorted_, warnings, notes, path.parent))
        typer.echo(str(path), err=True)
    if as_json:
        typer.echo(json.dumps(page.as_document(sorted_, remarks), indent=2, ensure_ascii=False))
    else:
        typer.echo(page.say(sorted_, remarks))


def _pair(text: str) -> tuple[str, str]:
    """`NAME=RUN`; a path that is there may have an equals sign."""
    name, equals, run = text.partition("=")
    return (name.strip(), run) if equals and not Path(text).exists() else ("", text)
