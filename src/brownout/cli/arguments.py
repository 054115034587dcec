"""Arguments and options that several commands share, and what a shell completes them to.

What does the work is imported in the functions here and in every other module of `brownout.cli`:
`brownout --help` and a completion must not wait for numpy and the databases' drivers.
"""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Cluster", "Experiment", "ExperimentCluster", "Json", "Run", "Seed"]
__all__ += ["complete_cluster", "complete_experiment", "complete_run", "complete_workload"]


def complete_run(incomplete: str) -> list[str]:
    """Return the runs whose names begin so, the latest first."""
    from brownout.run.kept import list_runs

    names = [run.name for run in reversed(list_runs())]
    return [name for name in ("latest", *names) if name.startswith(incomplete)]


def complete_cluster(incomplete: str) -> list[str]:
    """Return the clusters whose names begin so."""
    from brownout.inventory import inventory

    return [name for name in inventory.names() if name.startswith(incomplete)]


def complete_experiment(incomplete: str) -> list[str]:
    """Return the shipped experiments whose names begin so."""
    from brownout.base import catalog

    return [name for name in catalog.names("experiments") if name.startswith(incomplete)]


def complete_workload(incomplete: str) -> list[str]:
    """Return the workloads whose names begin so."""
    from brownout.load import workload

    return [name for name in workload.names() if name.startswith(incomplete)]


Experiment = Annotated[
    str,
    typer.Argument(
        help="An experiment's file, or the name of a shipped one.",
        autocompletion=complete_experiment,
    ),
]
ExperimentCluster = Annotated[
    str,
    typer.Option(
        "--cluster",
        help="An inventory's name or path. By default the experiment decides, mostly by "
        "BROWNOUT_CLUSTER.",
        autocompletion=complete_cluster,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed of everything drawn; 0 draws one and prints it.")
]
Run = Annotated[
    Path,
    typer.Argument(
        help="A run directory, a run's name, or `latest`.",
        metavar="RUN",
        autocompletion=complete_run,
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        envvar="BROWNOUT_CLUSTER",
        help="An inventory's name or path.",
        autocompletion=complete_cluster,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
