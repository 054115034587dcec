"""`brownout gate` and `brownout baseline pin`: repeats against limits and a pinned baseline."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ExitCode
from brownout.cli.arguments import Json, complete_run
from brownout.cli.framework import App
from brownout.cli.output import by_format, output_option

__all__ = ["app", "gate", "pin"]

app = App(help="Measures of a good version, kept for `brownout gate`.", no_args_is_help=True)

Runs = Annotated[
    list[Path],
    typer.Argument(
        help="Runs of one experiment: directories or names.",
        metavar="RUN…",
        autocompletion=complete_run,
    ),
]


@app.callback()
def _group() -> None:
    """Measures of a good version, kept for `brownout gate`."""


def gate(
    runs: Runs,
    baseline: Annotated[
        Path | None, typer.Option(help="A pinned baseline; without one only limits are judged.")
    ] = None,
    spare: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How many inconclusive or aborted runs may be left out; by default inconclusive "
            "ones, as long as at least as many were judged.",
        ),
    ] = None,
    least: Annotated[
        int, typer.Option(min=0, help="How many runs have to be judged; fewer are inconclusive.")
    ] = 0,
    output: Annotated[
        list[Path] | None,
        output_option(
            "Write JUnit XML into FILE.xml, or a summary for a pull request into FILE.md. "
            "Repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide by several runs of one experiment: pass, fail or inconclusive.

    Each run must keep its own limits, and the repeats may not be worse than the baseline's by
    more than allowed. Exit code 0 pass, 1 fail, 2 inconclusive, 64 if the runs do not belong
    together or had no limit.
    """
    from brownout.runs import run_set
    from brownout.runs.gate import baseline as baselines
    from brownout.runs.gate import fit, words
    from brownout.runs.gate.decision import decide
    from brownout.show.report.junit import document, write

    outputs = by_format(output or [], ".xml", ".md")
    pinned = baselines.read(baseline) if baseline is not None else None
    judged = run_set.Runs.read(runs)
    fit.check(judged, pinned)
    decision = decide(judged, pinned, spare, least)
    remarks = fit.remarks(judged, pinned)
    for form, path in outputs:
        if form == ".md":
            write(path, words.summary(decision, judged, remarks))
            continue
        write(
            path,
            document(
                f"brownout gate {judged[0].scenario} on {judged[0].cluster}",
                words.cases(decision, judged),
                words.properties(decision, judged),
                words.say(decision, judged, remarks),
                min(run.began for run in judged),
            ),
        )
    if as_json:
        typer.echo(json.dumps(words.as_document(decision, judged, remarks), indent=2))
    else:
        typer.echo(words.say(decision, judged, remarks))
    raise typer.Exit(ExitCode.of(decision.word))


@app.command("pin")
def pin(
    runs: Runs,
    output: Annotated[Path, output_option("The file to write, in YAML.")],
    measure: Annotated[
        list[str] | None,
        typer.Option(help="What to compare, as tps_drop or write.blackout; repeatable."),
    ] = None,
    allowed: Annotated[
        float,
        typer.Option(min=0, help="How much worse the estimate may be, as a share of the median."),
    ] = 0.2,
    critical: Annotated[
        float,
        typer.Option(min=0, help="How much worse must be ruled out, as a share of the median."),
    ] = 0.5,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Pin the measures of five or more RUNs of a good version; all passed and of one kind.

    Inconclusive RUNs are named and left out.
    """
    from brownout.runs import run_set
    from brownout.runs.gate import baseline as baselines

    everything = run_set.Runs.read(runs)
    # One without a limit is not left out but refused: no run of its kind could ever be judged.
    judged = run_set.Runs(r for r in everything if r.verdict != "inconclusive" or not r.impact.slos)
    for run in everything:
        if run not in judged:
            why = next(iter(run.impact.reasons), "no reason is recorded")
            typer.echo(f"note: left out, since it could not be judged: {run.run_id}: {why}")
    chosen = list(dict.fromkeys(measure or baselines.default_measures(judged)))
    pinned = baselines.pin(judged, chosen, allowed, critical)
    baselines.write(pinned, output, force)
    typer.echo(f"{output}: {len(judged)} runs pinned, compared by {', '.join(chosen)}")
