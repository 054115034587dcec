"""`brownout fill`: a database filled to a size, and conditioned until it is steady."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base import usual
from brownout.base.errors import ConfigurationError, ExitCode
from brownout.cli.arguments import Cluster
from brownout.cli.durations import duration_option, seconds
from brownout.cli.load import Confirm, WorkloadName, opened_adapter
from brownout.cli.settings import Settings, changes

if TYPE_CHECKING:
    from brownout.databases.adapter import Adapter
    from brownout.inventory.model import Cluster as ClusterModel
    from brownout.load.workload import Workload
    from brownout.session.status import Status

__all__ = ["fill"]


def fill(
    workload: WorkloadName,
    cluster: Cluster = usual.CLUSTER,
    records: Annotated[int, typer.Option(min=0, help="Number of records; 0: the workload's.")] = 0,
    size: Annotated[str, typer.Option(help="Size of the values instead, as 10GB.")] = "",
    condition: Annotated[
        str, duration_option("Then run the workload until it is steady, at most this long.")
    ] = "",
    window: Annotated[
        str, duration_option("Steadiness is judged over the last eight of these.")
    ] = "60s",
    tolerance: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Permitted drift of a steady level.")
    ] = 0.05,
    settings: Settings = None,
    seed: Annotated[int, typer.Option(min=1, help="Seed of the values.")] = 1,
    confirm: Confirm = "",
) -> None:
    """Fill a database with WORKLOAD's data set, and condition it. Holds the cluster exclusively.

    A killed fill continues where it stopped; a complete one is only counted. Exit code 2 if the
    workload was not steady within --condition.
    """
    from brownout.infra import lab
    from brownout.inventory import inventory
    from brownout.load import workload as workloads
    from brownout.load.fill import bytes_of, sized
    from brownout.session.loads import check_allowed
    from brownout.session.status import Status

    def say(words: str) -> None:
        typer.echo(words, err=True)

    wanted = sized(
        workloads.load(workload, changes(settings)), records, bytes_of(size) if size else 0
    )
    if not wanted.data.load:
        raise ConfigurationError("data.load: found false, wanted true to fill it")
    longest = seconds(condition, "--condition") if condition else 0.0
    step = seconds(window, "--window")
    declared = inventory.declared(cluster)
    check_allowed(declared, confirm, say)
    # A lab that comes down again would be filled for nothing: it stays.
    target, _ = lab.ensure(declared, progress=say)
    status = Status(title=f"{target.name} · fill {wanted.name}")
    try:
        with opened_adapter(target) as adapter:
            adapter.ready()
            status.start()
            text, steady = _carried_out(wanted, target, cluster, adapter, status, seed, longest,
                                        step, tolerance)  # fmt: skip
    finally:
        status.stop()
    typer.echo(text)
    raise typer.Exit(0 if steady else ExitCode.INCONCLUSIVE)


def _carried_out(
    wanted: "Workload",
    target: "ClusterModel",
    inventory: str,
    adapter: "Adapter",
    status: "Status",
    seed: int,
    longest: float,
    window: float,
    tolerance: float,
) -> tuple[str, bool]:
    """Fill, and condition where `longest` is not 0; return what to say, and whether it is well."""
    from brownout.base.words import duration
    from brownout.load.fill import Conditioning
    from brownout.load.fill import fill as filled
    from brownout.load.session import run_load
    from brownout.load.where import places_for
    from brownout.run.directory import RunDirectory
    from brownout.session.loads import taken

    status.phase = "filling"
    directory = RunDirectory.create("fill", seed)
    with taken(target, wanted, directory.path, inventory, brought_up=False, say=status.say):
        done = filled(wanted, adapter.load_spec(), directory.path, seed=seed,
                      places=places_for(target, directory.path),
                      progress=status.progress)  # fmt: skip
    text = (f"{target.name}: {done['keys']:,} records are there, counted at the database "
            f"({duration(float(done['seconds']))})")  # fmt: skip
    if not longest:
        return text, True
    status.phase = "conditioning"
    status.until(longest)
    conditioning, place = Conditioning(window, tolerance), RunDirectory.create("condition", seed)

    def feed(event: Mapping[str, Any]) -> None:
        status.feed(event)
        conditioning.feed(event)
        status.say(conditioning.state().why)

    with taken(target, wanted, place.path, inventory, brought_up=False, say=status.say):
        result = run_load(wanted, adapter.load_spec(), place.path, longest, seed=seed, on_live=feed,
                          read_back=False, places=places_for(target, place.path),
                          enough=conditioning.enough)  # fmt: skip
    state, took = conditioning.state(), duration(float(result.stopped["end_t"]))
    if state.steady:
        return f"{text}\nsteady after {took} ({len(conditioning.windows)} windows)", True
    return f"{text}\nnot steady after {took}: {state.why}\n{place.path}", False
