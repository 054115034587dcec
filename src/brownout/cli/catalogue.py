"""`brownout list`: what there is to run, to run it with and on, and to build from."""

import json
from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from brownout.base.columns import aligned
from brownout.cli.arguments import Json, complete_experiment

__all__ = ["list_"]

KINDS = ("experiments", "gamedays", "books", "comparisons", "workloads", "clusters", "faults",
         "actions", "probes", "measures")  # fmt: skip
Kind = Literal[
    "all", "experiments", "gamedays", "books", "comparisons", "workloads", "clusters", "faults",
    "actions", "probes", "measures"
]  # fmt: skip
Row = tuple[str, str]


def list_(
    kind: Annotated[Kind, typer.Argument(help="Only these.")] = "all",
    as_json: Json = False,
    path: Annotated[
        str,
        typer.Option(
            metavar="EXPERIMENT",
            help="Print only where this experiment's file is, for `chaos run`.",
            autocompletion=complete_experiment,
        ),
    ] = "",
) -> None:
    """List experiments, game days, books, comparisons of clients, workloads, clusters, and more."""
    if path:
        from brownout.base import catalog

        typer.echo(str(catalog.find_experiment(path)))
        return
    wanted = KINDS if kind == "all" else (kind,)
    entries = {name: list(_rows(name)) for name in wanted}
    if as_json:
        named = {key: [{"name": n, "about": a} for n, a in rows] for key, rows in entries.items()}
        typer.echo(json.dumps(named, indent=2, ensure_ascii=False))
        return
    blocks = [_block(name, rows, titled=kind == "all") for name, rows in entries.items()]
    typer.echo("\n\n".join(blocks))


def _block(title: str, rows: list[Row], titled: bool) -> str:
    lines = aligned(rows)
    return "\n".join([title, *(f"  {line}" for line in lines)] if titled else lines)


def _rows(kind: str) -> Iterator[Row]:
    from brownout.base import catalog
    from brownout.base.settings_file import parse_yaml

    if kind == "experiments":
        for name in catalog.names(kind):
            yield name, str(json.loads(catalog.read(kind, name))["title"])
    elif kind in ("gamedays", "books", "comparisons"):
        for name in catalog.names(kind):
            yield name, str(parse_yaml(catalog.read(kind, name), name)["title"])
    elif kind == "workloads":
        yield from _workloads()
    elif kind == "clusters":
        yield from _clusters()
    elif kind == "faults":
        yield from _faults()
    elif kind == "measures":
        yield from _measures()
    else:
        yield from _activities(kind)


def _workloads() -> Iterator[Row]:
    """Every workload that can be named; one that cannot be read says why in short."""
    from brownout.base.errors import ConfigurationError
    from brownout.load import workload

    for name in workload.names():
        try:
            loaded = workload.load(name)
        except ConfigurationError as error:
            yield name, f"cannot be read: {error.problems[0]}"
            continue
        variants = f"; variants {', '.join(loaded.variants)}" if loaded.variants else ""
        yield name, f"{loaded.title} ({loaded.summary().removeprefix(name).strip()}{variants})"


def _clusters() -> Iterator[Row]:
    """Every inventory that can be named; one that cannot be read says why in short."""
    from brownout.base.errors import ConfigurationError
    from brownout.inventory import inventory

    for name in inventory.names():
        try:
            cluster = inventory.declared(name)
        except ConfigurationError as error:
            yield name, f"cannot be used: {error.problems[0]} (`brownout check` says more)"
            continue
        members = cluster.lab.members if cluster.lab else len(cluster.nodes)
        kind = "a lab on this machine" if cluster.lab else cluster.environment
        yield name, f"{cluster.database}, {members} members, {kind}"


def _faults() -> Iterator[Row]:
    """Every act, as `needs` and `deny_acts` call it, with its actions and the package it is of."""
    from brownout.faults import registry

    acts: dict[str, list[str]] = {}
    for fault in registry.faults().values():
        undo = fault.undo_name if fault.undo_name != fault.name else ""
        undone = f" (undone by {undo})" if undo else ""
        package = type(fault).__module__.partition(".")[0]
        whose = "" if package == "brownout" else f" of {package}"
        acts.setdefault(fault.act, []).append(f"{fault.name}{undone}{whose}")
    for act, names in sorted(acts.items()):
        yield act, ", ".join(names)


def _measures() -> Iterator[Row]:
    """Every measure: its label, its unit, which way is better, and where it is defined."""
    from brownout.measure.measures import measures

    for name, measure in measures().items():
        better = "less" if measure.better == "lower" else "more"
        where = f"docs/measures.md#{measure.anchor}" if measure.of is None else measure.anchor
        yield name, f"{measure.label}, {measure.unit.name}, {better} is better: {where}"


def _activities(kind: str) -> Iterator[Row]:
    """Our activities as an experiment names them: `module.function`."""
    from brownout.session.discovery import activities

    for each in activities():
        module = str(each["mod"])
        if module.startswith(f"brownout.{kind}."):
            name = f"{module.removeprefix(f'brownout.{kind}.')}.{each['name']}"
            yield name, str(each["doc"]).strip().split("\n")[0]
