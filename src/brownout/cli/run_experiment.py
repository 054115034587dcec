"""`brownout run`: run an experiment by its name, with little output and its verdict's exit code."""

from pathlib import Path
from typing import Annotated

import typer

from brownout.cli.arguments import Experiment, ExperimentCluster
from brownout.cli.settings import Settings, variables

__all__ = ["run"]


def run(
    experiment: Experiment,
    cluster: ExperimentCluster = "",
    settings: Settings = None,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Keep Chaos Toolkit's journal in this file.")
    ] = None,
) -> None:
    """Run EXPERIMENT, and put back what it broke.

    Does what `chaos run` does, with less output: a panel in a terminal, one line per phase
    elsewhere. The exit code tells the verdict.
    """
    from brownout.base import catalog
    from brownout.session.quiet_run import run_quietly

    path = catalog.find_experiment(experiment)
    raise typer.Exit(run_quietly(path, variables(path, settings, cluster), journal))
