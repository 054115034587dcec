"""Make a book: one engine after the other, its capacity first, then its cells in rounds.

lab up ▶ capacity ▶ each fault once, then again … ▶ lab down ▶ the next engine

Each run is a process of its own. Everything that is over is in the record before the next thing
begins, so a book that was killed is continued where it stood.
"""

import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from brownout.base.errors import (
    Aborted,
    BrownoutError,
    ClusterError,
    Inconclusive,
    UndoFailed,
    Unsupported,
)
from brownout.base.words import duration
from brownout.databases.adapter import adapter_for
from brownout.infra import lab
from brownout.infra.lab.inspect import condition
from brownout.inventory import inventory
from brownout.inventory.database import with_options
from brownout.inventory.model import Cluster
from brownout.runs import repair
from brownout.runs.book.book_file import changes_of, plan_for, variables_of
from brownout.runs.book.outlook import left_s
from brownout.runs.book.record import BookRun, Capacity, Key, Record, cells_of
from brownout.runs.book.spec import Book, Engine, Fault
from brownout.runs.capacity.session import Wanted, carry_out, new_search
from brownout.session.bring_up import check_support
from brownout.session.experiment_process import ExperimentProcess, Outcome

__all__ = ["conduct", "put_back"]

Say = Callable[[str], None]
WHOLE_WITHIN_S = 120.0
LEFTOVERS_WITHIN_S = 300.0
_SEEDS = 1_000_000


def conduct(book: Book, record: Record, say: Say, part: Book | None = None) -> None:
    """Make all that is left of a book, or of a part of it (`Book.only`).

    Raises where it cannot continue; the record is kept. A book ends when nothing of it is left.
    """
    part = part or book
    for engine in part.engines:
        if any(record.wants(part, key) for key, _ in cells_of(part, engine)):
            _Engine(part, record, engine, say).make()
    if not any(record.wants(book, key) for e in book.engines for key, _ in cells_of(book, e)):
        record.ended = datetime.now(UTC).isoformat()
    record.save()


def put_back(book: Book, record: Record, say: Say) -> None:
    """Put back what a killed book left: faults in progress, and a lab that it had up."""
    for name in dict.fromkeys(engine.cluster for engine in book.engines):
        cluster = inventory.declared(name).name
        repair.put_back(cluster, "the book died", LEFTOVERS_WITHIN_S, say)
    if record.up:
        repair.take_down(record.up, say)
        record.up = ""
        record.save()


class _Engine:
    """All that is made on one engine's cluster."""

    def __init__(self, book: Book, record: Record, engine: Engine, say: Say) -> None:
        self._book, self._record, self._engine, self._say = book, record, engine, say

    def make(self) -> None:
        """Bring its lab up, make its runs, and take the lab down however that ends."""
        declared = inventory.declared(self._engine.cluster)
        try:
            cluster = self._bring_up(declared)
            if cluster is not None and self._find_support(cluster) and self._capacity():
                while (cell := self._next()) is not None:
                    self._await_whole(declared)
                    self._run(*cell)
        finally:
            self._take_down()

    def _bring_up(self, declared: Cluster) -> Cluster | None:
        """Return the cluster; None, with the reason in the record, if it is not a real database."""
        record, name = self._record, self._engine.name
        if declared.lab is not None:
            record.labs[name] = declared.lab.model_dump(mode="json", exclude_none=True)
            if condition(declared.name) not in ("up", "degraded"):
                record.up = declared.name  # before it is there: a resumed book takes it down
                record.save()
        try:
            cluster, _ = lab.ensure(declared, progress=self._say)
        except (ClusterError, Unsupported) as error:
            self._refuse(f"its cluster does not come up: {error}")
            return None
        if cluster.lab is not None and cluster.lab.stand_in:
            self._refuse(
                f"`{cluster.name}` runs a stand-in, wanted a real server: a stand-in's figures say "
                "nothing about a database"
            )
            return None
        return cluster

    def _refuse(self, why: str) -> None:
        self._record.refused[self._engine.name] = why
        self._record.save()
        self._say(f"{self._engine.name}: left out: {why}")

    def _find_support(self, cluster: Cluster) -> bool:
        """Ask the database once which faults it supports; return whether any cell is left."""
        unsupported = self._record.unsupported.setdefault(self._engine.name, {})
        for fault in self._book.faults:
            if fault.name in self._engine.without:
                continue
            plan = plan_for(self._book, self._engine, fault)
            with closing(adapter_for(with_options(cluster, plan.load_options))) as adapter:
                try:
                    check_support(plan, cluster, adapter)
                except BrownoutError as error:
                    unsupported[fault.name] = error.message
                    self._say(f"{self._engine.name}: {fault.name} is not run: {error.message}")
        self._record.save()
        return any(self._wants(key) for key, _ in cells_of(self._book, self._engine))

    def _wants(self, key: Key) -> int:
        return self._record.wants(self._book, key)

    def _capacity(self) -> bool:
        """Find the capacity, if that is not known; return whether there is one.

        An interrupted search continues with its next step.
        """
        if self._engine.name in self._record.capacities:
            return True
        rule = self._book.capacity
        self._say(f"{self._engine.name}: looking for its capacity, about {duration(rule.takes_s)}")
        wanted = Wanted(
            workload=self._book.workload, cluster=self._engine.cluster, sla=rule.sla,
            change=changes_of(self._book, self._engine), start=rule.start, ceiling=rule.max,
            precision=rule.precision, step_s=rule.step_s, confirm_s=rule.confirm_s,
            settle_s=rule.settle_s, again=rule.again, seed=self._book.seed,
        )  # fmt: skip
        begun = self._record.searches.get(self._engine.name)
        where = self._record.path / begun if begun else new_search(wanted)
        self._record.searches[self._engine.name] = self._record.where(where)
        self._record.save()
        result, where, code = carry_out(wanted, where, self._say)
        if code == Aborted.exit_code:
            raise Aborted(f"the search for the capacity of {self._engine.name} was interrupted")
        capacity = result["capacity"]
        if not capacity["rate"]:
            self._refuse(f"no rate holds its SLA: {capacity['why']}")
            return False
        self._record.capacities[self._engine.name] = Capacity(
            capacity["rate"], capacity["bound"], capacity["confirmed"], self._record.where(where)
        )
        self._record.save()
        return True

    def _next(self) -> tuple[Key, Fault] | None:
        """Return the cell that wants a run and had the fewest: so each is run once, then again."""
        wanting = (cell for cell in cells_of(self._book, self._engine) if self._wants(cell[0]))
        return min(wanting, key=lambda cell: len(self._record.of(cell[0])), default=None)

    def _run(self, key: Key, fault: Fault) -> None:
        record, done = self._record, len(self._record.of(key))
        seed = Random(f"{self._book.seed} {key} {done}").randrange(1, _SEEDS)
        rate = record.capacities[key.engine].rate * key.share
        variables = variables_of(self._book, self._engine, fault, rate, seed)
        self._say(
            f"{key.engine}, {key.fault} at {key.load}, {rate:,.0f}/s, run {done + 1}; "
            f"about {duration(left_s(self._book, record))} left"
        )
        began = time.monotonic()
        path = self._book.find_experiment(fault.experiment)
        occasion = f"book {self._book.name}"
        with ExperimentProcess(path, variables, occasion=occasion) as process:
            outcome = process.outcome()
        self._keep(key, outcome, seed, time.monotonic() - began)

    def _keep(self, key: Key, outcome: Outcome, seed: int, took_s: float) -> None:
        record, verdict = self._record, outcome.verdict
        try:
            if not outcome.was_aborted:
                run = record.where(Path(outcome.directory)) if outcome.directory else ""
                record.made.append(
                    BookRun(key.engine, key.fault, key.share, verdict, run, seed, round(took_s, 1))
                )
                record.save()
                self._say(f"{key.engine}, {key.fault}: {verdict}")
        finally:
            if outcome.unmended:
                raise UndoFailed(
                    f"{key.engine} is still broken after {key.fault}: {outcome.unmended}",
                    "`brownout heal` it, then --resume",
                )
        if outcome.was_aborted:
            raise Aborted(f"the run of {key.fault} on {key.engine} was aborted", "use --resume")

    def _await_whole(self, declared: Cluster) -> None:
        """Wait until the cluster is whole; rebuild a lab that does not become so."""
        whole = repair.await_whole_or_take_down(
            self._engine.cluster, WHOLE_WITHIN_S, self._say, self._record.path
        )
        if not whole and self._bring_up(declared) is None:
            raise Inconclusive(self._record.refused[self._engine.name])

    def _take_down(self) -> None:
        if self._record.up:
            repair.take_down(self._record.up, self._say)
            self._record.up = ""
            self._record.save()
