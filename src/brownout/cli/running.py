"""`brownout run`: run an experiment by its name, with little output and its verdict's exit code."""

from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import Experiment, complete_cluster

__all__ = ["run"]


def run(
    experiment: Experiment,
    cluster: Annotated[
        str,
        typer.Option(
            help="An inventory's name or path. By default the experiment decides, mostly by "
            "BROWNOUT_CLUSTER.",
            autocompletion=complete_cluster,
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="NAME=VALUE, a variable of the experiment, or of its workload if NAME has a dot: "
            "`downtime_s=5`, `streams.orders.rate=20`. Repeatable.",
        ),
    ] = None,
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
    raise typer.Exit(run_quietly(path, _variables(cluster, settings or []), journal))


def _variables(cluster: str, settings: list[str]) -> list[str]:
    """Return what was set as `chaos run --var` has it; settings of the workload are one variable.

    Raises `ConfigurationError` with everything that is not NAME=VALUE.
    """
    wrong = [each for each in settings if not each.partition("=")[0] or "=" not in each]
    if wrong:
        raise ConfigurationError([f"--set: found {each!r}, wanted NAME=VALUE" for each in wrong])
    of_load = [each for each in settings if "." in each.partition("=")[0]]
    given = [each for each in settings if each not in of_load]
    given += [f"load={','.join(of_load)}"] if of_load else []
    return [*given, *([f"cluster={cluster}"] if cluster else [])]
