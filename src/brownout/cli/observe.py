"""`brownout observe`: a Prometheus on this machine that scrapes every run, without Docker."""

from typing import Annotated

import typer

from brownout.cli.arguments import complete_cluster
from brownout.cli.durations import duration_option, seconds
from brownout.cli.framework import App

__all__ = ["app"]

app = App(help="A Prometheus on this machine that scrapes every run.", no_args_is_help=True)


@app.command()
def up(
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            help="Also scrape the exporters of this inventory; repeatable.",
            autocompletion=complete_cluster,
        ),
    ] = None,
    listen: Annotated[str, typer.Option(help="Its address.")] = "127.0.0.1:9090",
    retention: Annotated[str, duration_option("How long it keeps data.")] = "30d",
) -> None:
    """Start it; if it runs, make it reload exporters and rules."""
    from brownout.inventory import inventory
    from brownout.observe import prometheus

    retention_s = seconds(retention, "--retention", 1)
    declared = [inventory.declared(name) for name in cluster or []]
    exporters = [exporter for each in declared for exporter in each.observe.exporters]
    server = prometheus.up(listen, exporters, retention_s)
    typer.echo(f"Prometheus {server.url}")
    typer.echo(f"stored in {prometheus.home() / 'data'}")
    typer.echo("dashboards to import into a Grafana: `brownout observe dashboards DIRECTORY`")


@app.command()
def down(
    remove: Annotated[bool, typer.Option("--remove", help="Also remove its data.")] = False,
) -> None:
    """Stop it and keep its data."""
    from brownout.observe import prometheus

    was_up = prometheus.down()
    if remove:
        prometheus.remove_data()
    typer.echo("Prometheus is down" if was_up else "Prometheus was not up")


@app.command()
def status() -> None:
    """Show its address, what it scrapes, and which runs expose metrics. Exit code 1 if down."""
    from brownout.observe import prometheus, targets

    server = prometheus.running()
    typer.echo(f"Prometheus {server.url}" if server else "Prometheus is down")
    for target in prometheus.scraped(server) if server else []:
        typer.echo(f"  {target.job}  {target.address}  {target.health}")
    for run in targets.running():
        typer.echo(f"{run.run}  http://{run.address}/metrics")
    raise typer.Exit(0 if server else 1)


@app.command()
def dashboards(
    directory: Annotated[str, typer.Argument(help="The folder to write; created if missing.")],
) -> None:
    """Copy dashboards, rules and provisioning files for your own Grafana and Prometheus."""
    import shutil
    from importlib.resources import as_file, files
    from pathlib import Path

    target = Path(directory)
    with as_file(files("brownout") / "dashboards") as shipped:
        for part in ("grafana", "rules", "provisioning"):
            shutil.copytree(shipped / part, target / part, dirs_exist_ok=True)
    typer.echo(str(target))
