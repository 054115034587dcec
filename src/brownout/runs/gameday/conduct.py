"""Conduct a game day: one experiment after the other, each in a process of its own.

Whatever wants the day to end (the kill switch, a signal, a stop condition, the end of the window,
a lost lease) sets one reason; what is broken then is put back by the experiment's own process.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from brownout.base.errors import ClusterError, RunDirectoryError, UndoFailed
from brownout.base.scratch import scratch
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Milestone, adapter_for
from brownout.databases.milestones import unmet
from brownout.faults.open_runs import Claim
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.run.events import wall_clock
from brownout.runs import repair
from brownout.runs.gameday import days, messages
from brownout.runs.gameday.days import Day
from brownout.runs.gameday.freshness import known_duration
from brownout.runs.gameday.notifications import Herald
from brownout.runs.gameday.plan import ReadyStep, calendar_for
from brownout.runs.gameday.record import StepRecord, verdict_of
from brownout.runs.gameday.spec import GameDay
from brownout.runs.gameday.stop import Stop
from brownout.session.experiment_process import ExperimentProcess, Outcome, variable
from brownout.session.stop_conditions import ask_to_stop

__all__ = ["Conductor"]

#: So often it is asked whether a run is to stop.
_LOOK_EVERY_S = 0.1


def make_one(planned: ReadyStep, gameday: GameDay, look: Callable[[str], str]) -> Outcome:
    """Run a step's experiment and return what it left.

    `look` is called all the time with the run's directory, empty as long as there is none, and
    returns why the run is to stop, if it is. The process is told to stop when this one dies.
    """
    with scratch("gameday") as place:
        variables = [variable(name, value) for name, value in planned.variables.items()]
        controls = _safeguards(gameday, place)
        occasion = f"game day {gameday.name}"
        with ExperimentProcess(planned.path, variables, controls, occasion) as running:
            stopped = False
            while running.process.poll() is None:
                claim = running.claim()
                reason = look(claim.run if claim else "")
                if reason and not stopped:
                    stopped = True
                    _end(running, claim, reason)
                time.sleep(_LOOK_EVERY_S)
            return running.outcome()


def _end(running: ExperimentProcess, claim: Claim | None, reason: str) -> None:
    """Have a run end. Before it has a cluster in its hands nothing can be broken."""
    if claim:
        try:
            ask_to_stop(claim, reason)
            return
        except OSError:  # its directory is gone
            pass
    running.process.terminate()


def _safeguards(gameday: GameDay, place: Path) -> Path | None:
    """Return a control file that has chaostoolkit-addons watch the game day's probes."""
    if not gameday.safeguards:
        return None
    control = {
        "provider": {
            "type": "python",
            "module": "chaosaddons.controls.safeguards",
            "arguments": {"probes": list(gameday.safeguards)},
        }
    }
    path = place / "safeguards.json"
    path.write_text(json.dumps({"game day's safeguards": control}), encoding="utf-8")
    return path


POLL_S = 0.5
WHOLE_WITHIN_S = 120.0


class Conductor:
    """Conducts one day, new or resumed, whose cluster's lease is held; main thread only.

    Where its records cannot be written any more the day ends as by the kill switch: what is broken
    is put back, that is proven, and people are told.
    """

    def __init__(
        self,
        gameday: GameDay,
        day: Day,
        planned: Sequence[ReadyStep],
        stop: Stop,
        say: Callable[[str], None],
    ) -> None:
        self._gameday, self._day, self._stop, self._say = gameday, day, stop, say
        self._ready = {each.step.called: each for each in planned}
        self._calendar = calendar_for(gameday)
        self._past = [past.record for past in days.all_days()]
        self._herald = Herald(gameday.notify, self._note)
        #: Why the records could not be written.
        self.lost: RunDirectoryError | None = None

    def run(self) -> None:
        """Make every remaining step and record the verdict; the cluster is left as it was."""
        remaining = self._day.record.remaining
        self._herald.tell(messages.begins(self._gameday, self._day.record))
        try:
            with self._stop:
                self._bring_up()
                for index, step in enumerate(remaining):
                    if index:
                        self._cool_down(after=remaining[index - 1])
                    if self._may_begin(step):
                        self._make(step)
                self._prove()
        except (RunDirectoryError, OSError) as error:
            self._stop.ask(str(error))
            raise
        finally:
            self._conclude()

    def close(self) -> None:
        """Wait until the notifications are sent; the cluster was released before."""
        self._herald.close()

    def _bring_up(self) -> None:
        """Bring a lab up for the whole day, or each experiment would for itself."""
        cluster = inventory.declared(self._gameday.cluster)
        if cluster.lab is not None:
            _, brought_up = lab.ensure(cluster, progress=self._say)
            self._day.record.brought_up |= brought_up
            self._save()

    def _prove(self) -> None:
        """See that the cluster is whole, and take a lab down again; else it stays as it is."""
        record = self._day.record
        try:
            record.proof = repair.await_whole(record.inventory_file, WHOLE_WITHIN_S, self._say)
        except UndoFailed as error:
            record.unmended = record.unmended or error.message
            self._note(error.message)
            return
        self._note(record.proof)
        if record.brought_up and not record.unmended:
            repair.take_down(record.cluster, self._say)

    def _may_begin(self, step: StepRecord) -> bool:
        """Whether a step may begin now; where the time is not right the day ends."""
        now = datetime.now(UTC)
        takes = known_duration(self._gameday, step.name, self._past)
        closes = self._calendar.closes(now)
        if why := self._calendar.why_not(now):
            self._stop.ask(why)
        elif takes and closes and now + takes > closes:
            self._stop.ask(f"{step.name} takes longer than until {closes:%H:%M} UTC, when the "
                          "window closes")  # fmt: skip
        return not self._stop.reason

    def _make(self, step: StepRecord) -> None:
        """Run one experiment to its end and take down what came of it."""
        steps = self._day.record.steps
        self._note(f"{step.name} begins ({steps.index(step) + 1} of {len(steps)})")
        if self._stop.reason:
            return
        step.begin(wall_clock())
        self._save()
        outcome = make_one(self._ready[step.name], self._gameday, lambda run: self._look(step, run))
        reasons = outcome.impact.reasons if outcome.impact else ()
        step.end(wall_clock(), outcome.verdict, outcome.directory, reasons)
        self._day.record.unmended = outcome.unmended or ""
        self._note(f"{step.name}: {step.verdict}")
        if step.verdict != "pass" or outcome.unmended:
            self._herald.tell(messages.step_ended(self._gameday, self._day.record, step))
        if why := self._ends_the_day(step, outcome):
            self._stop.ask(why)

    def _look(self, step: StepRecord, run: str) -> str:
        """During a step: note where its run lies, and return why it is to stop, if so."""
        if run and not step.run:
            step.run = run
            self._save()
        if why := self._calendar.why_not(datetime.now(UTC)):
            self._stop.ask(why)
        return self._stop.reason

    def _ends_the_day(self, step: StepRecord, outcome: Outcome) -> str:
        """Why no other step may follow; empty where one may."""
        rule = self._gameday.stop_on
        if outcome.unmended:
            return f"the cluster is still broken after {step.name}: {outcome.unmended}"
        if outcome.was_aborted:
            return f"{step.name} was aborted"
        if step.verdict == "fail" and rule.fail == "stop":
            return f"{step.name} failed, and `stop_on.fail` is stop"
        if step.verdict in ("inconclusive", "not run") and rule.inconclusive == "stop":
            return f"{step.name} was {step.verdict}, and `stop_on.inconclusive` is stop"
        return ""

    def _cool_down(self, after: StepRecord) -> None:
        """Wait until the cluster has its milestone and the time is over, or the day ends."""
        if self._stop.reason:
            return
        rule = self._gameday.cool_down
        self._note(f"cool-down after {after.name}: until {rule.until}, at least "
                   f"{rule.at_least_s:g} s")  # fmt: skip
        try:
            with closing(adapter_for(inventory.load(self._gameday.cluster))) as adapter:
                self._await(adapter)
        except ClusterError as error:
            self._stop.ask(f"cool-down after {after.name}: {error}")

    def _await(self, adapter: Adapter) -> None:
        rule, began = self._gameday.cool_down, time.monotonic()

        def over() -> bool:
            if self._stop.reason:
                return True
            passed, missing = time.monotonic() - began, _lacking(adapter, rule.until)
            if missing and passed > rule.limit_s:
                self._stop.ask(f"after {rule.limit_s:g} s of cool-down the cluster is not "
                              f"{rule.until}: {', '.join(missing)}")  # fmt: skip
            return not missing and passed >= rule.at_least_s

        wait_until(over, every_s=POLL_S)

    def _conclude(self) -> None:
        record = self._day.record
        record.ended, record.stopped = wall_clock(), self._stop.reason
        record.verdict = verdict_of(record)
        self._herald.tell(messages.ended(self._gameday, record, self._day.path))
        self._note(f"over: {record.verdict}" + (f", {record.stopped}" if record.stopped else ""))

    def _note(self, words: str) -> None:
        self._say(words)
        try:
            self._day.note(words)
        except RunDirectoryError as error:
            self._lose(error)

    def _save(self) -> None:
        try:
            self._day.save()
        except RunDirectoryError as error:
            self._lose(error)

    def _lose(self, error: RunDirectoryError) -> None:
        """End the day; nothing that happens from now on would be known afterwards."""
        if self.lost is None:
            self.lost = error
            self._say(str(error))
            self._stop.ask(f"the records of the game day are lost: {error.message}")


def _lacking(adapter: Adapter, milestone: Milestone) -> list[str]:
    """Return what is missing; an answer, if the cluster gives none."""
    try:
        return unmet(adapter, milestone)
    except ClusterError as error:
        return [str(error)]
