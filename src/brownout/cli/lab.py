"""`brownout lab`: a real cluster on this machine, to learn, to test, to demonstrate."""

from typing import Annotated

import typer

from brownout.base import usual
from brownout.cli.arguments import complete_cluster
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App

__all__ = ["app"]

app = App(help="A real cluster on this machine, without Docker.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        help="The lab's cluster, as in infra/clusters.", autocompletion=complete_cluster
    ),
]


@app.command()
def up(
    name: Name = usual.CLUSTER,
    members: Annotated[
        int | None,
        typer.Option(min=1, max=7, help="Number of members; default: the lab's own, else 3."),
    ] = None,
    election_timeout: Annotated[
        str, duration_option("Time without heartbeats until an election; default: 2s.")
    ] = "",
) -> None:
    """Start the lab and wait until it is whole."""
    from brownout.infra import lab
    from brownout.inventory import inventory

    timeout_s = seconds(election_timeout, "--election-timeout", 0.5) if election_timeout else None
    declared = inventory.declared(name)
    if declared.lab is not None and timeout_s is not None:
        spec = declared.lab.changed(election_timeout_ms=round(timeout_s * 1000))
        declared = declared.model_copy(update={"lab": spec})
    cluster = lab.up(declared, members, progress=_progress)
    for node in cluster.nodes:
        typer.echo(f"{node.name}  {node.address}")
    for spare in cluster.spares:
        typer.echo(f"{spare.name}  {spare.address}  spare, not running")


@app.command()
def down(name: Name = usual.CLUSTER) -> None:
    """Stop the lab and remove everything it made."""
    from brownout.infra import lab

    lab.down(name, progress=_progress)
    typer.echo(f"{name} is down")


@app.command()
def status(name: Name = usual.CLUSTER) -> None:
    """Show whether the lab is up, and the state of each node. Exit code 1 if it is down."""
    from brownout.infra import lab

    states = lab.status(name)
    typer.echo(f"{states.name} is {states.condition}  ({states.directory})")
    for member in states.members:
        typer.echo(f"{member.name}  {member.address}  {member.process}  {member.state}")
    for spare in states.spares:
        left = "" if spare.state == "spare" else " (a spare that was left in: `lab up` puts it out)"
        typer.echo(f"{spare.name}  {spare.address}  {spare.process}  {spare.state}{left}")
    raise typer.Exit(0 if states.condition == "up" else 1)


@app.command()
def logs(
    name: Name = usual.CLUSTER,
    node: Annotated[str, typer.Option(help="One node only.")] = "",
    lines: Annotated[int, typer.Option(min=1, help="Number of lines of each.")] = 20,
) -> None:
    """Print the end of each node's own log."""
    from brownout.infra import lab

    for member, tail in lab.logs(name, node, lines).items():
        typer.echo(f"==> {member}")
        typer.echo("\n".join(tail))


def _progress(words: str) -> None:
    typer.echo(words, err=True)
