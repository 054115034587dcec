"""`brownout new`, `check` and `schema`: make experiments of your own, and check them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError
from brownout.cli.arguments import complete_cluster, complete_experiment, complete_workload
from brownout.cli.durations import duration_option, seconds
from brownout.cli.output import output_option
from brownout.cli.schemas import Kind

__all__ = ["adopt", "check", "new", "schema"]


def new(
    scenario: Annotated[
        str,
        typer.Argument(help="The experiment to start from.", autocompletion=complete_experiment),
    ],
    output: Annotated[Path | None, output_option("The folder to make; default: the name.")] = None,
    name: Annotated[str, typer.Option(help="Name of the copy; default: SCENARIO.")] = "",
    workload: Annotated[
        str,
        typer.Option(
            help="The workload to copy; default: the one that the cluster would get.",
            autocompletion=complete_workload,
        ),
    ] = "",
    cluster: Annotated[
        str,
        typer.Option(
            help="A shipped inventory to copy, or your own to name; default: the experiment's.",
            autocompletion=complete_cluster,
        ),
    ] = "",
) -> None:
    """Copy an experiment with its workload, limits and inventory, and a README.

    Never overwrites a file.
    """
    from brownout.cli.scaffold import make

    files = make(scenario, output or Path(name or scenario), name or scenario, workload, cluster)
    for path in files:
        typer.echo(str(path))
    _name_unavailable_hosts()
    typer.echo(f"next: read {files[0]}", err=True)


def adopt(
    experiment: Annotated[
        Path, typer.Argument(help="A Chaos Toolkit experiment whose steps are not brownout's.")
    ],
    output: Annotated[
        Path | None,
        output_option("The file to write, JSON or YAML; default: NAME-brownout.json here."),
    ] = None,
    breaks: Annotated[
        list[str] | None,
        typer.Option("--break", help="A step that breaks something; repeatable."),
    ] = None,
    mends: Annotated[
        list[str] | None,
        typer.Option("--mend", help="A step or rollback that ends what was broken; repeatable."),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            help="The inventory's name or path; default: that of every experiment.",
            autocompletion=complete_cluster,
        ),
    ] = "",
    limits: Annotated[
        str, typer.Option(help="What must hold, as recovery_time=30,lost_writes=0.")
    ] = "lost_writes=0",
    effect_within: Annotated[
        str, duration_option("How long after its step a break may take effect.")
    ] = "",
) -> None:
    """Have brownout measure an experiment of other people's actions.

    Writes a copy with brownout's control, the cluster, the limits, and which steps break and which
    undo; without --break and --mend their names decide. Touches nothing else, and never
    overwrites a file.
    """
    from brownout.cli.adoption import adopt as adopted_from
    from brownout.cli.adoption import write
    from brownout.session.options import limits_of

    within_s = seconds(effect_within, "--effect-within", 0) if effect_within else None
    adopted = adopted_from(
        experiment, breaks or (), mends or (), cluster, limits_of("--limits", limits), within_s
    )
    path = output or Path(f"{experiment.stem}-brownout.json")
    write(adopted, path)
    typer.echo(str(path))
    for kind in ("breaks", "mends", "harmless"):
        for name in getattr(adopted, kind):
            typer.echo(f"  {kind:8}  {name}  ({adopted.steps[name]})")
    for problem in adopted.problems:
        typer.echo(f"  before it can run here: {problem}", err=True)
    typer.echo(f"next: check these, then `brownout plan {path}` and `chaos run {path}`", err=True)


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Experiments, game days, workloads, inventories, limits; JSON or YAML."
        ),
    ],
    cluster: Annotated[
        str,
        typer.Option(
            help="Check experiments as if run on this inventory, by name or path, and it as well.",
            autocompletion=complete_cluster,
        ),
    ] = "",
) -> None:
    """Check files of any kind and report all mistakes of all of them at once.

    Touches nothing. Exit code 64 if anything is wrong.
    """
    from brownout.cli.file_kinds import check_file

    problems: list[str] = []
    inventories = [_inventory(cluster)] if cluster else []
    for path in dict.fromkeys([*inventories, *files]):
        kind, mistakes = check_file(path, cluster)
        problems += mistakes
        if not mistakes:
            typer.echo(f"ok  {path}  ({kind})")
    if problems:
        raise ConfigurationError(problems)


def _inventory(cluster: str) -> Path:
    from brownout.inventory import inventory

    path = inventory.path_of(cluster)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def schema(
    kind: Annotated[
        Kind,
        typer.Argument(help="Which kind of file."),
    ],
) -> None:
    """Print the JSON schema of a kind of YAML file, for editors.

    Put `# yaml-language-server: $schema=FILE` on the first line of your YAML file.
    """
    from brownout.cli.schemas import schema as make

    typer.echo(json.dumps(make(kind), indent=2, ensure_ascii=False))
    if kind == "inventory":
        _name_unavailable_hosts()


def _name_unavailable_hosts() -> None:
    """Say which kinds of hosts the schema of inventories has no settings of, and why."""
    from brownout.machine.host import unavailable_hosts

    for problem in unavailable_hosts().values():
        typer.echo(f"not in the schema of inventories: {problem}", err=True)
