"""`brownout load` and `brownout clean`: a workload by itself, and removing what it wrote."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base import usual
from brownout.cli.arguments import Cluster, complete_workload
from brownout.cli.durations import duration_option, seconds
from brownout.cli.settings import Settings, changes

if TYPE_CHECKING:
    from brownout.databases.adapter import Adapter
    from brownout.inventory import model
    from brownout.load.session import LoadResult
    from brownout.session.status import Status

__all__ = ["Confirm", "clean", "load", "opened_adapter", "watched", "words_of"]

#: Fewer ok than this, and the load is more than can be carried.
CARRIED = 0.99
#: A load of so many seconds has minutes enough for a trend.
LONG_S = 300.0

WorkloadName = Annotated[
    str,
    typer.Argument(
        help="A workload file, or the name of a shipped one.", autocompletion=complete_workload
    ),
]
Confirm = Annotated[
    str,
    typer.Option(envvar="BROWNOUT_CONFIRM", help="A production cluster's name, to confirm."),
]


def load(
    workload: WorkloadName,
    cluster: Cluster = usual.CLUSTER,
    duration: Annotated[str, duration_option("How long.", "--for")] = "30s",
    settings: Settings = None,
    seed: Annotated[int, typer.Option(min=1, help="Seed of keys and arrivals.")] = 1,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove the data set from the database afterwards.")
    ] = False,
    confirm: Confirm = "",
) -> None:
    """Apply WORKLOAD to a cluster for a while and report how its operations ended.

    Keeps the raw files. Brings up a lab that is down, and takes it down again. Holds the cluster
    exclusively.
    """
    from brownout.cli.store import delivered
    from brownout.infra import lab
    from brownout.inventory import inventory
    from brownout.load import workload as workloads
    from brownout.load.left import left_by
    from brownout.load.session import run_load
    from brownout.load.where import places_for
    from brownout.observe.address import metrics_shown
    from brownout.run.directory import RunDirectory
    from brownout.session.loads import check_allowed, taken
    from brownout.session.status import Status
    from brownout.show.report.words import STAND_IN

    wanted = workloads.load(workload, changes(settings))
    length = seconds(duration, "--for")
    declared = inventory.declared(cluster)
    check_allowed(declared, confirm, _progress)
    target, brought_up = lab.ensure(declared, progress=_progress)
    directory = RunDirectory.create("load", seed)
    status = Status(title=f"{target.name} · {wanted.summary()}")
    with taken(target, wanted, directory.path, cluster, brought_up=brought_up, say=_progress):
        try:
            with opened_adapter(target) as adapter:
                adapter.ready()
                status.start()
                status.phase = "preparing"
                with watched(adapter, directory.balance, length) as begin:
                    result = run_load(
                        wanted,
                        {**adapter.load_spec(), "labels": _labels(target, adapter, directory.path)},
                        directory.path,
                        length,
                        seed=seed,
                        on_live=_feed(status, length),
                        progress=status.progress,
                        clean=clean,
                        places=places_for(target, directory.path),
                        on_start=begin,
                        shown=partial(
                            metrics_shown, target.observe.listen, directory.path.name, _progress
                        ),
                    )
        finally:
            status.stop()
    typer.echo(words_of(result, directory.path))
    if target.lab is not None and target.lab.stand_in:
        typer.echo(STAND_IN)
    if length >= LONG_S:
        typer.echo(f"how it went over time: `brownout trend {directory.path}`")
    if not clean and not brought_up:
        typer.echo(str(left_by(wanted, cluster)))
    raise typer.Exit(delivered(0, directory.path))


def clean(
    cluster: Cluster = usual.CLUSTER,
    workload: Annotated[
        str,
        typer.Option(
            help="The workload whose namespace to clean; default: `brownout`.",
            autocompletion=complete_workload,
        ),
    ] = "key-value",
    settings: Settings = None,
    confirm: Confirm = "",
) -> None:
    """Remove what the load has written to a cluster, and nothing else.

    Removes only what carries brownout's mark; refuses a database that brownout did not make. Tables
    and collections that were made for brownout stay, empty. Holds the cluster exclusively.
    """
    from brownout.base.scratch import scratch
    from brownout.inventory import inventory
    from brownout.load import workload as workloads
    from brownout.load.generator import Generator
    from brownout.load.where import places_for
    from brownout.session.loads import check_allowed, taken

    wanted = workloads.load(workload, changes(settings))
    check_allowed(inventory.declared(cluster), confirm, _progress)
    target = inventory.load(cluster)
    with (
        scratch("clean") as directory,
        taken(target, wanted, directory, cluster, brought_up=False, say=_progress),
        opened_adapter(target) as adapter,
    ):
        adapter.ready()
        spec = wanted.to_spec(directory=directory, seed=1, writer="clean", **adapter.load_spec())
        # A data set that is not complete is removed as well.
        spec["data"]["load"] = True
        with Generator(directory, place=places_for(target, directory)[0]) as generator:
            generator.open(spec)
            generator.clean()
    typer.echo(f"{target.name}: nothing of ours is left in `{wanted.namespace}`")


@contextmanager
def opened_adapter(cluster: "model.Cluster") -> "Iterator[Adapter]":
    """Return the adapter of a cluster, closed when the block is left."""
    from brownout.databases.adapter import adapter_for

    adapter = adapter_for(cluster)
    try:
        yield adapter
    finally:
        adapter.close()


def _labels(cluster: "model.Cluster", adapter: "Adapter", directory: Path) -> dict[str, str]:
    """What the load's metrics carry, as a run's do; its experiment is `load`."""
    from brownout.observe.labels import of_the_load
    from brownout.session.record import cluster_of

    experiment, target = {"name": "load", "ref": ""}, cluster_of(cluster, adapter)
    return of_the_load({"run_id": directory.name, "experiment": experiment, "cluster": target})


@contextmanager
def watched(
    adapter: "Adapter", path: Path, length: float
) -> Iterator[Callable[[Callable[[], float | None]], None]]:
    """Look at what the nodes hold while a load runs, some hundred times; hand it the load's clock.

    A database that does not tell is not looked at.
    """
    from brownout.databases.resize import Resizing
    from brownout.session.balance_watch import BalanceWatch

    watches: list[BalanceWatch] = []

    def begin(clock: Callable[[], float | None]) -> None:
        if isinstance(adapter, Resizing):
            every_s = min(60.0, max(1.0, length / 100))
            watches.append(BalanceWatch(adapter, path, clock, lambda _: None, every_s))
            watches[-1].start()

    try:
        yield begin
    finally:
        for watch in watches:
            watch.stop()


def _feed(status: "Status", length: float) -> Callable[[Mapping[str, Any]], None]:
    """Hand live events on; with the first one the load itself has begun."""

    def feed(event: Mapping[str, Any]) -> None:
        if status.phase == "preparing":
            status.phase = "load"
            status.until(length)
        status.feed(event)

    return feed


def _progress(words: str) -> None:
    typer.echo(words, err=True)


def words_of(result: "LoadResult", path: Path) -> str:
    """Return what a load came to, in a few lines; its raw files are in `path`."""
    from brownout.run.parts.apart import apart_of

    text = result.stopped
    ends = ("ok", "late", "failed", "in_doubt", "shed", "missed")
    lines = [
        f"offered {text['offered']:,} in {text['end_t']:.1f} s: "
        + ", ".join(f"{text[end]:,} {end.replace('_', ' ')}" for end in ends),
        f"{_response(path)}scheduling lag p99 {text['lag_p99_ms']:.1f} ms",
    ]
    if text["offered"] and text["ok"] < CARRIED * text["offered"]:
        lines.append(
            f"only {text['ok'] / text['offered']:.1%} were ok: this is more than the cluster or "
            "this machine carries; a test near the limit measures the limit, so lower the rate"
        )
    if apart := apart_of(text):
        lines.append(apart.words() + ("" if apart.together else ": their buckets do not match"))
    if result.verified is not None:
        verified = result.verified
        lines.append(f"ledger: {verified['read']:,} of {verified['keys']:,} keys read back")
    return "\n".join([*lines, str(path)])


def _response(path: Path) -> str:
    """Response time of all that was ok; nothing where nothing was."""
    from brownout.run.latency import read_hlog

    log = read_hlog(path / "latency.hlog")
    total = log.between(log.tags, 0.0, float("inf"))
    if total is None or not total.n:
        return ""
    shown = (f"p{name} {(total.percentile_us(ratio) or 0) / 1000:,.1f} ms"
             for name, ratio in ((50, 0.5), (99, 0.99)))  # fmt: skip
    return f"response {', '.join(shown)}; "
