"""Make a comparison of clients: lab up ▶ each group once, then again … ▶ lab down.

Each run is a process of its own and is in the record before the next one begins, so a comparison
that was killed is continued where it stood.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from brownout.base.errors import Aborted, Inconclusive, UndoFailed
from brownout.base.words import duration
from brownout.infra import lab
from brownout.infra.lab.inspect import condition
from brownout.inventory import inventory
from brownout.runs import repair
from brownout.runs.clients.clients_file import variables_of
from brownout.runs.clients.outlook import left_s
from brownout.runs.clients.record import ClientsRun, Record
from brownout.runs.clients.spec import Comparison
from brownout.session.experiment_process import ExperimentProcess

__all__ = ["conduct", "put_back"]

Say = Callable[[str], None]
WHOLE_WITHIN_S = 120.0
LEFTOVERS_WITHIN_S = 300.0
_SEEDS = 1_000_000


def conduct(comparison: Comparison, record: Record, say: Say) -> None:
    """Make all runs that are left. Raises where it cannot continue; the record is kept."""
    try:
        if _next(comparison, record) is not None:
            _bring_up(comparison, record, say)
        while (group := _next(comparison, record)) is not None:
            if not repair.await_whole_or_take_down(
                comparison.cluster, WHOLE_WITHIN_S, say, record.path
            ):
                _bring_up(comparison, record, say)
            _run(comparison, record, group, say)
    finally:
        _take_down(record, say)
    record.ended = datetime.now(UTC).isoformat()
    record.save()


def put_back(comparison: Comparison, record: Record, say: Say) -> None:
    """Put back what a killed comparison left: a fault in progress, and a lab that it had up."""
    cluster = inventory.declared(comparison.cluster).name
    repair.put_back(cluster, "the comparison of clients died", LEFTOVERS_WITHIN_S, say)
    _take_down(record, say)


def _bring_up(comparison: Comparison, record: Record, say: Say) -> None:
    declared = inventory.declared(comparison.cluster)
    if declared.lab is not None and condition(declared.name) not in ("up", "degraded"):
        record.up = declared.name  # before it is there: a resumed comparison takes it down
        record.save()
    cluster, _ = lab.ensure(declared, progress=say)
    if cluster.lab is not None and cluster.lab.stand_in:
        raise Inconclusive(
            f"`{cluster.name}` runs a stand-in, wanted a real server: no client of an application "
            "can be compared on it"
        )


def _next(comparison: Comparison, record: Record) -> str | None:
    """Return the group that wants a run and had the fewest: so each is run once, then again."""
    wanting = (group for group in comparison.groups if record.wants(comparison, group))
    return min(wanting, key=lambda group: len(record.of(group)), default=None)


def _run(comparison: Comparison, record: Record, group: str, say: Say) -> None:
    done = len(record.of(group))
    seed = Random(f"{comparison.seed} {group} {done}").randrange(1, _SEEDS)
    names = ", ".join(row.name for row in comparison.groups[group])
    say(f"{names}: run {done + 1}; about {duration(left_s(comparison, record))} left")
    began = time.monotonic()
    variables = variables_of(comparison, record.workload(group), seed)
    occasion = f"clients {comparison.name}"
    with ExperimentProcess(
        comparison.find_experiment(comparison.experiment), variables, occasion=occasion
    ) as process:
        outcome = process.outcome()
    took_s = round(time.monotonic() - began, 1)
    try:
        if not outcome.was_aborted:
            run = record.where(Path(outcome.directory)) if outcome.directory else ""
            record.runs.append(ClientsRun(group, outcome.verdict, run, seed, took_s))
            record.save()
        say(f"run {done + 1}: {outcome.verdict}")
    finally:
        if outcome.unmended:
            raise UndoFailed(
                f"{comparison.cluster} is still broken: {outcome.unmended}",
                "`brownout heal` it, then --resume",
            )
    if outcome.was_aborted:
        raise Aborted(f"the run of {group} was aborted", "use --resume")


def _take_down(record: Record, say: Say) -> None:
    if record.up:
        repair.take_down(record.up, say)
        record.up = ""
        record.save()
