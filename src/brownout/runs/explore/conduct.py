"""Explore: run drawn schedules one after the other; a broken promise is repeated and shrunk.

lab up ▶ schedule 1 ▶ schedule 2 ✗ ▶ again 5 times ▶ shorter? … ▶ finding ▶ schedule 3 …

Each run is a process of its own and in the record before the next begins. What follows depends on
the record alone, so an exploration that was killed is continued by doing the same again: what it
has run already is taken from there.
"""

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import monotonic, sleep

from brownout.base.compact_json import compact
from brownout.base.errors import (
    Aborted,
    ClusterError,
    ConfigurationError,
    Inconclusive,
    UndoFailed,
    Unsupported,
)
from brownout.base.files import private_directory, replace_file
from brownout.base.words import duration
from brownout.databases.adapter import Adapter, adapter_for
from brownout.infra import lab
from brownout.infra.lab.inspect import condition
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.runs import repair
from brownout.runs.explore.coverage import happened
from brownout.runs.explore.draw import Space, is_allowed, numbered, space_of
from brownout.runs.explore.method import experiment_of
from brownout.runs.explore.oracles import (
    LIMITS,
    MILESTONE_LIMIT_S,
    OF_ORACLE,
    is_judged,
    violations,
    words_of,
)
from brownout.runs.explore.record import (
    FILE,
    REPEAT,
    SEARCH,
    SHRINK,
    Finding,
    Record,
    Request,
    Try,
)
from brownout.runs.explore.schedule import Schedule
from brownout.runs.explore.shrink import shrink
from brownout.runs.store.delivery import deliver_files
from brownout.session.experiment_process import ExperimentProcess, Outcome

__all__ = ["conduct", "look", "put_back"]

Say = Callable[[str], None]
WHOLE_WITHIN_S = 120.0
LEFTOVERS_WITHIN_S = 300.0
#: How long is waited after a run that could not begin: an earlier one's claim may have to end.
NOT_BEGUN_PAUSE_S = 120
#: After so many runs in a row that could not begin, no other is tried.
_MOST_NOT_BEGUN = 3
_SEEDS = 1_000_000


class _OverBudget(Exception):
    """The time is up."""


def conduct(record: Record, say: Say) -> None:
    """Explore until the budget is spent. Raises where it cannot continue; the record is kept."""
    _Exploration(record, say).make()
    record.ended = datetime.now(UTC).isoformat()
    record.save()


def look(request: Request) -> Space:
    """Return what would be drawn on a cluster that is up; nothing is touched.

    Raises `ClusterError` for a lab that is down.
    """
    cluster = inventory.load(request.cluster)
    with closing(adapter_for(cluster)) as adapter:
        return _space(request, cluster, adapter)


def put_back(record: Record, say: Say) -> None:
    """Put back what a killed exploration left: a fault in progress, and a lab that it had up."""
    cluster = inventory.declared(record.request.cluster).name
    repair.put_back(cluster, "the exploration died", LEFTOVERS_WITHIN_S, say)
    if record.up:
        repair.take_down(record.up, say)
        record.up = ""
        record.save()


class _Exploration:
    """All that is run on one cluster."""

    def __init__(self, record: Record, say: Say) -> None:
        self._record, self._request, self._say = record, record.request, say
        self._declared = inventory.declared(self._request.cluster)
        self._not_begun = 0
        self._since = monotonic()

    def make(self) -> None:
        """Bring a lab up, explore, and take it down however that ends."""
        request = self._request
        try:
            cluster = self._bring_up()
            with closing(adapter_for(cluster)) as adapter:
                self._space = _space(request, cluster, adapter)
                self._note_server(adapter.engine())
            self._record.database = cluster.database
            self._record.space = asdict(self._space)
            self._record.save()
            for name, why in self._space.left_out.items():
                self._say(f"{name} is not drawn: {why}")
            self._search()
        except _OverBudget:
            self._say(f"the budget of {duration(self._record.budget_s)} is spent")
        finally:
            self._take_down()

    def _note_server(self, server: str) -> None:
        """Note what is explored; it may not change within one exploration."""
        record = self._record
        if record.tries and server != record.server:
            raise ConfigurationError(
                f"{record.path}: its runs so far were on {record.server}, found {server}",
                "begin another exploration: give another `--seed` or `--name`",
            )
        record.server = server

    def _search(self) -> None:
        request = self._request
        for number, schedule in numbered(self._space, request.seed, request.share, request.shares):
            self._run(number, SEARCH, schedule, 1)
            investigated: set[str] = set()
            while (sighting := self._sighting(number, investigated)) is not None:
                attempt, oracle = sighting
                investigated.add(oracle)
                seen = Schedule.of(attempt.schedule)
                if not self._is_known(number, oracle, seen):
                    self._investigate(attempt, seen, oracle, attempt.broken[oracle])

    def _sighting(self, number: int, but: Collection[str]) -> tuple[Try, str] | None:
        """Return the first run for a schedule in which another oracle than these was violated.

        A run that was made to shorten one finding may show another.
        """
        return next(
            (
                (each, oracle)
                for each in self._record.tries
                if each.number == number
                for oracle in each.broken
                if oracle not in but
            ),
            None,
        )

    def _is_known(self, number: int, oracle: str, schedule: Schedule) -> bool:
        """Whether an earlier finding explains a violation; it is noted there.

        An exploration that is continued has later findings too, which decided nothing then.
        """
        findings = [finding for finding in self._record.findings if finding.oracle == oracle]
        if any(finding.number == number for finding in findings):
            return False
        if any(number in finding.seen_again for finding in findings):
            return True
        for finding in findings:
            if finding.number < number and finding.explains(oracle, schedule):
                self._see_again(finding, number)
                return True
        return False

    def _see_again(self, finding: Finding, number: int) -> None:
        if number not in finding.seen_again:
            finding.seen_again.append(number)
        self._record.save()
        self._say(f"schedule {number} broke the promise as finding {finding.number} did")

    def _investigate(self, first: Try, schedule: Schedule, oracle: str, words: str) -> None:
        """Repeat a schedule to learn how often it breaks the promise, and find the shortest."""
        finding = self._finding(first, schedule, oracle, words)
        self._say(f"schedule {first.number} broke the promise: {words}")
        finding.open = "the time was up"
        try:
            finding.hits, finding.judged = self._rate(first.number, REPEAT, schedule, oracle)
            self._say(f"again in {finding.hits} of {finding.judged} runs: {schedule.words}")
            if not finding.hits:
                unclear = "none of the repeats could be judged"
                finding.open = "it did not happen again" if finding.judged else unclear
                return
            self._shrink(finding, schedule)
            finding.open = ""
        finally:
            self._keep(finding)
        if not self._is_merged(finding):
            self._say(
                f"finding {finding.number}: {finding.shrunk_hits} of {finding.shrunk_judged} runs: "
                f"{Schedule.of(finding.shrunk).words}"
            )

    def _shrink(self, finding: Finding, schedule: Schedule) -> None:
        """Find the shortest of a finding, and how often that breaks the promise."""
        number, oracle = finding.number, finding.oracle
        wanted = max(1, round(self._request.repeats * finding.hits / finding.judged) - 1)
        on_the_way: list[Schedule] = []
        for each in shrink(schedule, lambda one: self._holds(number, one, oracle, wanted)):
            on_the_way.append(each)
            finding.shrunk = each.document()
            self._keep(finding)
            self._say(f"the shortest so far: {each.words}")
        best = on_the_way[-1]
        if best == schedule:
            finding.shrunk_hits, finding.shrunk_judged = finding.hits, finding.judged
        else:
            rate = self._rate(number, REPEAT, best, oracle)  # anew: those of SHRINK chose it
            finding.shrunk_hits, finding.shrunk_judged = rate
        as_short = (each.document() for each in on_the_way if len(each.steps) == len(best.steps))
        finding.variants += [each for each in as_short if each not in finding.variants]

    def _is_merged(self, finding: Finding) -> bool:
        """Join a finding to an earlier one with the same shortest; return whether there is one."""
        for earlier in self._record.findings:
            if earlier is not finding and earlier.is_same_as(finding):
                earlier.join(finding)
                self._record.findings.remove(finding)
                (self._record.path / finding.experiment).unlink(missing_ok=True)
                self._see_again(earlier, finding.number)
                return True
        return False

    def _finding(self, first: Try, schedule: Schedule, oracle: str, words: str) -> Finding:
        for finding in self._record.findings:
            if (finding.number, finding.oracle) == (first.number, oracle):
                return finding
        document = schedule.document()
        finding = Finding(first.number, oracle, words, document, document, first.run)
        self._record.findings.append(finding)
        return finding

    def _rate(self, number: int, purpose: str, schedule: Schedule, oracle: str) -> tuple[int, int]:
        """Run a schedule as often as was asked for; return the violations and the judged runs."""
        judged: list[Try] = []
        for attempt in range(1, 2 * self._request.repeats + 1):
            run = self._run(number, purpose, schedule, attempt)
            judged += [run] if run.is_judged else []
            if len(judged) == self._request.repeats:
                break
        return sum(oracle in each.broken for each in judged), len(judged)

    def _holds(self, number: int, schedule: Schedule, oracle: str, wanted: int) -> bool:
        """Whether a schedule breaks the promise in `wanted` runs.

        No more are made than decide that; those that cannot be judged are made again.
        """
        if not is_allowed(self._space, schedule):
            return False
        repeats, hits, judged = self._request.repeats, 0, 0
        for attempt in range(1, 2 * repeats + 1):
            run = self._run(number, SHRINK, schedule, attempt)
            judged += run.is_judged
            hits += oracle in run.broken
            if hits >= wanted:
                return True
            if hits + repeats - judged < wanted:
                return False
        return False

    def _run(self, number: int, purpose: str, schedule: Schedule, attempt: int) -> Try:
        """Return a run of a schedule: that of the record, or a new one."""
        record = self._record
        for earlier in record.of(number, purpose, schedule):
            if earlier.attempt == attempt:
                return earlier
        left_s = record.budget_s - record.spent_s
        if left_s <= 0:
            raise _OverBudget
        self._await_whole()
        self._say(
            f"schedule {number}, {purpose} {attempt}; about {duration(left_s)} left: "
            f"{schedule.words}"
        )
        seed = Random(f"{self._request.seed} {number} {purpose} {attempt}").randrange(1, _SEEDS)
        outcome = self._outcome(number, purpose, schedule, attempt, seed)
        return self._kept(number, purpose, schedule, attempt, outcome)

    def _outcome(
        self, number: int, purpose: str, schedule: Schedule, attempt: int, seed: int
    ) -> Outcome:
        settings = {"seed": seed, "milestone_limit_s": MILESTONE_LIMIT_S, **self._request.settings}
        experiment = experiment_of(
            schedule, cluster=self._request.cluster, limits=LIMITS, settings=settings,
            title=f"Schedule {number} of seed {self._request.seed}", description=schedule.words,
        )  # fmt: skip
        folder = self._record.path / "experiments"
        private_directory(folder)
        path = folder / f"{number:04}-{purpose}-{len(self._record.tries) + 1:04}.json"
        replace_file(path, compact(experiment))
        occasion = f"explore {self._declared.name}"
        with ExperimentProcess(path, (), occasion=occasion) as process:
            return process.outcome()

    def _kept(
        self, number: int, purpose: str, schedule: Schedule, attempt: int, outcome: Outcome
    ) -> Try:
        record = self._record
        if outcome.was_aborted:
            if outcome.unmended:
                self._mend(outcome.unmended)
            raise Aborted(f"schedule {number} was aborted", "use --resume to continue")
        broken = {each.oracle: each.words for each in violations(outcome)}
        now = monotonic()
        attempted = Try(
            number, purpose, tuple(schedule.document()), attempt, outcome.verdict,
            record.where(Path(outcome.directory)) if outcome.directory else "",
            round(now - self._since, 1), happened(schedule, outcome.impact), broken,
            is_judged(outcome),
        )  # fmt: skip
        self._since = now
        record.tries.append(attempted)
        try:
            record.save()
            deliver_files(record.path, [FILE], self._say)
        finally:
            if outcome.unmended:
                self._mend(outcome.unmended)
        if not outcome.unmended and "never_redundant" in broken and self._declared.lab is not None:
            self._rebuild()
        self._not_begun = 0 if outcome.directory else self._not_begun + 1
        if self._not_begun == _MOST_NOT_BEGUN:
            raise Inconclusive(
                f"{_MOST_NOT_BEGUN} runs in a row could not begin", "see their output above"
            )
        if self._not_begun:
            self._say(f"the run could not begin; the next one waits for {NOT_BEGUN_PAUSE_S} s")
            sleep(NOT_BEGUN_PAUSE_S)
        return attempted

    def _keep(self, finding: Finding) -> None:
        """Write a finding as an experiment, and the record."""
        schedule, request, record = Schedule.of(finding.shrunk), self._request, self._record
        judged, hits = finding.judged, finding.hits
        if finding.shrunk_judged:
            judged, hits = finding.shrunk_judged, finding.shrunk_hits
        settings = {name: v for name, v in request.settings.items() if name != "confirm"}
        found_by = f"brownout explore {request.cluster} --seed {request.seed}"
        experiment = experiment_of(
            schedule,
            cluster={"type": "env", "key": "BROWNOUT_CLUSTER", "default": request.cluster},
            limits={**LIMITS, **OF_ORACLE.get(finding.oracle, {})},
            title=f"{_sentence(words_of(finding.oracle))}: {len(schedule.steps)} faults in a row",
            description=(
                f"{_sentence(schedule.words)}. Found by `{found_by}` as schedule {finding.number} "
                f"on {record.server}: {finding.words}. It did so in {hits} of {judged} more runs."
            ),
            settings={"milestone_limit_s": MILESTONE_LIMIT_S, **settings},
        )
        folder = record.path / "findings"
        private_directory(folder)
        name = f"{record.database}-{finding.oracle.replace('_', '-')}-{finding.number}.json"
        replace_file(folder / name, compact(experiment))
        finding.experiment = record.where(folder / name)
        record.save()
        deliver_files(record.path, [finding.experiment, FILE], self._say)

    # -- the cluster --------------------------------------------------------------------------

    def _bring_up(self) -> Cluster:
        declared, record = self._declared, self._record
        if declared.lab is not None and condition(declared.name) not in ("up", "degraded"):
            record.up = declared.name  # before it is there: a resumed exploration takes it down
            record.save()
        try:
            cluster, _ = lab.ensure(declared, progress=self._say)
        except (ClusterError, Unsupported) as error:
            raise Inconclusive(f"the cluster does not come up: {error}") from error
        return cluster if cluster.nodes else inventory.load(self._request.cluster)

    def _mend(self, why: str) -> None:
        """Heal what a run left broken; what is not a lab's is left to its owners."""
        if self._declared.lab is None:
            raise UndoFailed(f"the cluster is still broken: {why}", "`brownout heal` it")
        self._say(f"still broken: {why}")
        self._rebuild()

    def _await_whole(self) -> None:
        """Wait until the cluster is whole, and rebuild a lab that is not in time."""
        if not repair.await_whole_or_take_down(
            self._request.cluster, WHOLE_WITHIN_S, self._say, self._record.path
        ):
            self._bring_up()

    def _rebuild(self) -> None:
        self._say(f"rebuilding {self._declared.name}")
        repair.put_back(self._declared.name, "its lab is rebuilt", LEFTOVERS_WITHIN_S, self._say)
        repair.keep_logs(self._declared.name, self._record.path, self._say)
        lab.down(self._declared, progress=self._say)
        self._bring_up()

    def _take_down(self) -> None:
        if self._record.up:
            repair.take_down(self._record.up, self._say)
            self._record.up = ""
            self._record.save()


def _space(request: Request, cluster: Cluster, adapter: Adapter) -> Space:
    return space_of(cluster, adapter, request.only, request.without, request.longest_s)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
