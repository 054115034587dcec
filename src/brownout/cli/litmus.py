"""`brownout litmus`: an experiment as a fault of LitmusChaos, and what Litmus is to know of it."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from brownout.base.errors import ExitCode
from brownout.cli.arguments import Experiment, Run
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App
from brownout.cli.settings import Settings, variables

__all__ = ["app"]

app = App(help="Experiments as faults of LitmusChaos.", no_args_is_help=True)

#: Litmus's verdicts as those of other commands.
CODES = {
    "Pass": ExitCode.PASS,
    "Fail": ExitCode.FAIL,
    "Stopped": ExitCode.ABORTED,
    "Error": ExitCode.INCONCLUSIVE,
}
Kubeconfig = Annotated[
    str, typer.Option(help="Access to the API server; default: that of the pod, or kubectl's.")
]


@app.command()
def run(
    experiment: Experiment,
    patience: Annotated[
        str, duration_option("How long to wait for an unreachable API server.")
    ] = "30m",
    by_verdict: Annotated[
        bool,
        typer.Option("--by-verdict", help="Exit with the verdict's code."),
    ] = False,
    kubeconfig: Kubeconfig = "",
) -> None:
    """Run EXPERIMENT as the container of a ChaosExperiment does, and write the ChaosResult.

    Litmus sets CHAOSENGINE, EXPERIMENT_NAME and CHAOS_NAMESPACE. Exit code 0 once the ChaosResult
    has the verdict, whatever it is, because Litmus's job would restart a failed container.
    """
    import os
    from contextlib import closing

    from brownout.faults.litmus.engines import Where, litmus_at
    from brownout.faults.litmus.surroundings import surroundings
    from brownout.litmus.conduct import conduct
    from brownout.litmus.reporter import Reporter

    patience_s = seconds(patience, "--patience", 1)
    here = surroundings(os.environ)
    with closing(litmus_at(Where(here.namespace, kubeconfig), patience_s=0.0)) as litmus:
        reporter = Reporter(litmus, here, patience_s, _say)
        report = conduct(experiment, here, reporter, os.environ, _say)
    typer.echo(f"ChaosResult {here.namespace}/{here.result}: {report.phase}, {report.verdict}")
    raise typer.Exit(int(CODES[report.verdict]) if by_verdict else 0)


@app.command()
def probe(
    run: Run,
    measure: Annotated[str, typer.Argument(help="A name from docs/measures.md.")],
    scope: Annotated[str, typer.Option(help="total, read, write or a stream.")] = "total",
    wait: Annotated[str, duration_option("How long to wait for the run's verdict.")] = "0s",
) -> None:
    """Print the value of MEASURE in RUN as a bare number, for a cmdProbe to compare.

    For a run in progress prints the value so far, if it can only grow. Exit code 2, and no number,
    if nothing is known.
    """
    from brownout.litmus.answers import figure
    from brownout.litmus.definitions import number

    typer.echo(number(figure(run, measure, scope, seconds(wait, "--wait", 0))))


@app.command()
def probes(
    experiment: Experiment,
    kind: Annotated[
        Literal["cmd", "prom"],
        typer.Option(help="Query by a command (cmd) or by Prometheus (prom)."),
    ] = "cmd",
    prometheus: Annotated[
        str, typer.Option(help="The Prometheus that promProbes query.")
    ] = "http://prometheus:9090",
    image: Annotated[str, typer.Option(help="Run cmdProbes in a pod of this image.")] = "",
    claim: Annotated[
        str, typer.Option(help="The volume claim with the runs that such a pod reads.")
    ] = "",
    settings: Settings = None,
) -> None:
    """Print the limits of EXPERIMENT as probes of a ChaosEngine, in YAML.

    They go into `spec.experiments[].spec.probe`.
    """
    from brownout.base import catalog
    from brownout.litmus.chart_text import text
    from brownout.litmus.definitions import Source, definitions
    from brownout.session.plan_file import plan_of

    plan, _ = plan_of(experiment, variables(catalog.find_experiment(experiment), settings))
    source = Source(image, claim) if image else None
    definitions_of = definitions(plan.limits, f"{kind}Probe", source, prometheus, plan.scenario)
    typer.echo(text({"probe": definitions_of}), nl=False)


@app.command()
def chart(
    directory: Annotated[Path, typer.Argument(help="The folder to write; created if missing.")],
    image: Annotated[str, typer.Option(help="The image that its faults run in.")] = "",
) -> None:
    """Write the chart of brownout's faults into DIRECTORY: the root of a ChaosHub."""
    import shutil
    from importlib.resources import as_file, files

    from brownout.litmus.chart import chart as make_chart
    from brownout.litmus.chart_parts import IMAGE

    for name, text in make_chart(image or IMAGE).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    icons = Path("faults/brownout/icons")
    with as_file(files("brownout") / "infra" / "litmus" / icons) as shipped:
        if shipped.resolve() != (directory / icons).resolve():
            shutil.copytree(shipped, directory / icons, dirs_exist_ok=True)
    typer.echo(str(directory))


def _say(text: str) -> None:
    print(f"brownout: {text}", file=sys.stderr, flush=True)
