"""The run that is open in this process: what the control and the activities talk to.

open ──▶ begin_method ──▶ (faults) ──▶ finish ──▶ begin_undo ──▶ close
  │ plan checked, load steady            │ redundancy, hold, ledger  │ verdict
"""

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError, Refused, Unsupported
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Idling, adapter_for
from brownout.databases.milestones import still_unmet
from brownout.faults import cluster_record, guards, open_runs
from brownout.faults.aim import Aim
from brownout.faults.atlas.cluster_state import check_free
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.faults import Faults
from brownout.faults.heal import make_free
from brownout.faults.others.account import Source, await_moment
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.database import with_options
from brownout.inventory.model import Node
from brownout.judge.analysis import analyze
from brownout.judge.measures import answer, limits_answer
from brownout.judge.slo import place_problems
from brownout.load.cluster_claim import ClusterClaim, Holder
from brownout.measure.baseline import Baseline
from brownout.measure.impact import Impact
from brownout.observe.observation import Observation
from brownout.observe.source import source_for
from brownout.run import contract
from brownout.run.contract import Breach
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog
from brownout.session import bring_up, in_cluster, quiet_time, record, wind_down
from brownout.session.cluster_watch import ClusterWatch
from brownout.session.conclusion import Remember, conclude
from brownout.session.external import Activity, ExternalFaults
from brownout.session.heartbeat import Lateness
from brownout.session.interruption import Interruption
from brownout.session.pauses import Pauses
from brownout.session.plan import Plan
from brownout.session.privileges import privileges
from brownout.session.requirements import requirements
from brownout.session.running_load import RunningLoad
from brownout.session.server_view import ServerView
from brownout.session.status import Status
from brownout.session.step_guards import addresses, guards_of_steps, hosts
from brownout.session.targets import (
    ADDED,
    BROKEN,
    SPARE,
    TARGET,
    Chosen,
    aim_at,
    next_spare,
)
from brownout.session.trail import Trail
from brownout.show.report.noise import detectable_words
from brownout.show.report.words import answer_words

__all__ = ["Session"]

logger = logging.getLogger("chaostoolkit")

#: How long the ledger of a run that a person or a stop condition ended is read back.
READ_BACK_LIMIT_S = 20.0


class Session:
    """One run on one cluster; called from Chaos Toolkit's main thread only.

    `remember` puts the run into the history, `deliver` into a store; it says why where it cannot.
    """

    adapter: Adapter
    faults: Faults
    directory: RunDirectory

    def __init__(
        self,
        plan: Plan,
        remember: Remember,
        deliver: Callable[[Path], str | None],
    ) -> None:
        self.plan = plan
        self._remember, self._deliver = remember, deliver
        self.cluster = plan.cluster
        self.baseline: Baseline | None = None
        self._trail: Trail | None = None
        self._watch: ClusterWatch | None = None
        self._aim: Aim | None = None
        self._chosen = Chosen()
        self.whole_at_start: dict[str, Any] = {}  # what the cluster said of itself then
        self.interruption = Interruption(plan.options.abort_if)
        self._lateness = Lateness(self._is_late)
        self.pauses = Pauses(
            self.interruption.must_stop, self._wait_for_pause, self._lateness.late_pause
        )
        self._jumped_before_s = 0.0  # the generator's clock, before the method
        self._brought_up = self._claimed = False
        self._in_cluster: ClusterClaim | None = None
        self._method = ""  # "", "begun", "ended": where Chaos Toolkit is
        self._finished = self._undoing = False
        self._impact: Impact | None = None
        self.status = Status(title=f"{plan.scenario} on {plan.cluster.name}")
        self._load = RunningLoad(plan, self.status)
        self._observed: Observation | None = None
        self._external: ExternalFaults | None = None

    # -- opening ------------------------------------------------------------------------------

    def open(self) -> None:
        """Check everything, start the load, and wait until its baseline is accepted."""
        self.interruption.arm()
        self.status.start()
        self._find_cluster()
        self._check_cluster()
        self._make_records()
        self.interruption.watch(self.directory.path, self._log(), self._load.series)
        self._load.start(self.cluster, self.adapter, self.directory)
        if self._watch is not None and self.plan.resizes:
            self._watch.watch_balance(self.directory.balance, self._load.now, self.status.say)
        self._log().point("phase", "load_started")
        self.status.phase = "waiting for a stable baseline"
        self.status.until(self.plan.settings.warmup_max_s)
        self.baseline = bring_up.await_baseline(
            self._load.generator,
            self.plan.settings,
            lambda missing: self.status.waiting_for(missing),
        )
        level = self.baseline.level
        evidence = {"tps": level.tps, "detectable_drop": level.detectable}
        self._log().point("phase", "baseline_accepted", evidence=evidence)
        self.status.phase = "baseline accepted"
        logger.info(detectable_words(level.detectable))
        self._leave_alone()

    def _leave_alone(self) -> None:
        """A control window and a phase before the method, where they are wanted."""
        options = self.plan.options
        if options.sham:
            length = self.plan.settings.baseline_s
            self.status.phase = "control window: nothing is broken"
            self.status.until(length)
            quiet_time.control_window(self._log(), self._load.generator, length)
        if options.phase_s:
            self.status.phase = "waiting for the drawn moment"
            self.status.until(options.phase_s)
            quiet_time.leave_alone(self._load.generator, options.phase_s)

    def _find_cluster(self) -> None:
        plan = self.plan
        make_free(plan.cluster, self.status.say)
        guards.refuse(
            [
                *guards.of_cluster(
                    plan.cluster, plan.needs, plan.options.confirm, datetime.now(UTC)
                ),
                *requirements(plan.cluster, plan.needs),
                *([guards.of_degraded(plan.cluster)] if plan.options.while_degraded else []),
            ]
        )
        bring_up.check_foreseen(plan)
        if self.cluster.lab is not None:
            self.status.phase = f"bringing up {self.cluster.name}"
        self.cluster, self._brought_up = bring_up.bring_up(self.cluster, self.status.say)
        self.adapter = adapter_for(with_options(self.cluster, self.plan.load_options))

    def _check_cluster(self) -> None:
        self.status.phase = "checking the cluster"
        bring_up.check_support(self.plan, self.cluster, self.adapter)
        check_free(self.cluster, self.plan.needs)
        self.whole_at_start = bring_up.check_whole(self.adapter)
        options = self.plan.options
        self._aim = aim_at(options.target, self.cluster, self.adapter, options.seed)
        guards.refuse(
            [
                *privileges(
                    self.cluster, self.adapter, self.plan.acts, self.plan.workload.namespace
                ),
                *hosts(self.plan.deeds, self.cluster),
            ]
        )
        guards.refuse(addresses(self.cluster))
        guards.refuse(
            guards_of_steps(self.plan.deeds, self.cluster, self.adapter, self._aim.planned)
        )

    def _make_records(self) -> None:
        self.directory = RunDirectory.create(self.plan.scenario, self.plan.options.seed)
        name = self.plan.options.cluster
        held = open_runs.claim(
            self.cluster.name,
            self.directory.path,
            str(inventory.path_of(name)),
            self._brought_up,
            nodes=nodes_of(self.cluster),
            namespace=self.plan.workload.namespace,
        )
        self._claimed = True
        if not self._brought_up:  # a lab that we brought up is unknown to others
            try:
                self._in_cluster = in_cluster.take(
                    self.adapter, self.plan.workload, held, self.status.say, self._cluster_is_shared
                )
            except Refused:
                with contextlib.suppress(OSError):
                    self.directory.path.rmdir()  # nothing is in it, and it is not a run
                raise
        self.status.directory = self.directory.path
        self._trail = Trail(EventLog(self.directory.events, clock=self._load.now), self._load.to_t)
        target = self._planned(TARGET)
        record.write(self.directory, self.plan, self.cluster, self.adapter, target)
        recorded = cluster_record.write(self.directory.path, name, self.cluster)
        self._observed = Observation(
            self.plan.cluster.observe,
            self.directory.path,
            self.status.board,
            self._load.now,
            self._load.metrics,
        )
        self._log().point("check", "cluster_whole", ok=True, detail=self.whole_at_start)
        self.faults = Faults(
            self.cluster,
            self.adapter,
            self._log(),
            self._load.to_t,
            aim=self._aim,
            to_wipe=lambda node: node in self._to_wipe(),
            stopped=self.interruption.must_stop,
            ending=self._is_ending,
            confirmation=self.plan.options.confirm,
            may_end_early=self.plan.may_end_early,
            while_degraded=self.plan.options.while_degraded,
            removable=recorded.removable,
        )
        self.status.broken = lambda: self.faults.down
        hold_s = self.plan.settings.milestone_hold_s
        watch = ClusterWatch(
            self.adapter,
            self._trail,
            self._settled,
            self.interruption.aborted,
            hold_s,
            lambda: bool(self.faults.hidden),
        )
        watch.watch_primaries(self.directory.primaries, self._load.to_t)
        self._watch = watch
        self.faults.before_break = watch.before_break
        self.faults.claimed_primary = watch.claimed
        self._external = ExternalFaults(
            self.plan.external,
            self._log(),
            self._load.to_t,
            before_break=watch.before_break,
            change=lambda: watch.crossing("changed"),
        )

    @property
    def may_have_broken(self) -> bool:
        """Whether the run came far enough to break anything."""
        return hasattr(self, "faults")

    # -- the method ---------------------------------------------------------------------------

    def begin_method(self) -> None:
        """Chaos Toolkit begins the method."""
        self._method = "begun"
        self._jumped_before_s = self._load.clock_jump_s
        self._lateness.start()
        self.status.phase = "method"
        self._log().point("phase", "method_started")

    def begin_step(self, activity: Activity) -> None:
        """Chaos Toolkit begins an activity: people see which, and one of others is written down.

        Raises `Refused` with nothing touched where it breaks something and a guard forbids that.
        """
        name = str(activity.get("name"))
        self._lateness.begin_step(name)
        if self._undoing:
            self.status.phase = f"putting back: {name}"
        elif self._method == "begun":
            self.status.phase = f"method: {name}"
            self._log().point("note", "step", activity=name)
        if self._external is None or not (self._undoing or self._method == "begun"):
            return
        if self._external.breaks(activity):
            self._check_break_by_others()
        self._external.begin(activity)

    def mark(self, kind: str, name: str, by: str) -> dict[str, Any]:
        """Note a `break` or `mend` of this moment that no activity makes."""
        if self._external is None or self._method != "begun":
            raise ConfigurationError(f"mark_{kind} {name}: belongs in the method")
        if kind == "break":
            self._check_break_by_others()
        return self._external.mark(kind, name, by or "outside this experiment")

    def follow(self, kind: str, source: Source, by: str, within_s: float) -> dict[str, Any]:
        """Wait until another tool's own account says that its fault began or ended; note that."""
        external = self._external
        if external is None or self._method != "begun":
            raise ConfigurationError(f"{source.words}: belongs in the method")
        if kind == "break":
            self._check_break_by_others()
        self.status.phase = f"waiting for {source.words} to {'begin' if kind == 'break' else 'end'}"
        self.status.until(within_s)
        return external.follow(
            kind,
            source.words,
            by,
            lambda: await_moment(
                source.look, kind, source.words, within_s, self.interruption.must_stop,
                time.monotonic, time.time, kind == "mend" and external.followed(source.words),
            ),
        )  # fmt: skip

    def _check_break_by_others(self) -> None:
        """Refuse a break by others that the environment, the hour or the cluster forbids.

        A break before redundancy is back belongs to the same fault, so only the first one needs a
        cluster that is whole.
        """
        if self._is_ending():
            raise Refused("nothing is touched: the run is ending, so no break begins")
        confirm = self.plan.options.confirm
        missing = [] if self.faults.broke_something else still_unmet(self.adapter, "whole")
        now = datetime.now(UTC)
        guards.refuse(
            [*guards.of_cluster(self.cluster, (), confirm, now), guards.redundancy(missing)]
        )
        self.faults.others_broke = True

    def _is_ending(self) -> bool:
        """Whether no break may begin any more, in the background or otherwise."""
        return self._undoing or bool(self.interruption.reason)

    def _settled(self) -> bool:
        """Whether nothing is broken, by brownout or by others, as far as can be told."""
        mended = self._external is None or self._external.settled()
        return mended and self.faults.settled

    def end_step(self, activity: Activity, error: str | None) -> None:
        """Chaos Toolkit has ended an activity, with this error if it failed.

        Where this process did not run meanwhile, that was too late.
        """
        name = str(activity.get("name"))
        if self._external is not None:
            self._external.end(activity, error)
        self._lateness.end_step(name)

    def _check_clock(self) -> None:
        """Write that moments of the fault are unknown where a machine of ours was suspended."""
        jump_s = self._load.clock_jump_s - self._jumped_before_s
        if jump_s > 0 and self.faults.broke_something:
            detail = (
                f"the load generator's clock jumped by {jump_s:.1f} s against brownout's: one of "
                "the two machines was suspended"
            )
            logger.warning(detail)
            contract.write(self._log(), Breach(contract.LATENESS, detail))

    def _cluster_is_shared(self, other: Holder) -> None:
        """Write that another run has the cluster too: what was measured since may be its doing."""
        detail = f"another run began on this cluster meanwhile: {other}"
        logger.warning(detail)
        contract.write(self._log(), Breach(contract.CLUSTER, detail))

    def _wait_for_pause(self, where: str, seconds: float) -> None:
        self._lateness.begin_pause()
        self.status.phase = where
        self.status.until(seconds)

    def _is_late(self, detail: str) -> None:
        """Write that we were late, where a fault was made before and its measures depend on it."""
        if self._method == "begun" and not self._undoing and self.faults.broke_something:
            logger.warning(detail)
            contract.write(self._log(), Breach(contract.LATENESS, detail))

    def end_method(self) -> None:
        """Chaos Toolkit has ended the method, whole or not."""
        self._lateness.stop()
        self._method = "ended"
        self._log().point("phase", "method_ended")

    def node(self, name: str, undo: str = "") -> Node:
        """Return the node that an activity means: a name, or a word for one.

        Which one `target` is may change until it is broken. A role, as `primary`, means who has it
        now; for an `undo`, the node that was broken as that. `broken` is the one broken last.
        """
        if name == TARGET:
            return self.targets[0]
        if name in (SPARE, ADDED) or any(node.name == name for node in self.cluster.every):
            return self._planned(name)
        pending = [each.node or "" for each in self.faults.pending if undo in ("", each.action)]
        if undo:
            node = self._chosen.find(name, pending)
            if node is None:
                raise ConfigurationError(f"{undo}: node: this run broke no node as `{name}`")
            return node
        if name == BROKEN:
            if not self.faults.broken:
                raise ConfigurationError("node: found `broken`, but no node is broken now")
            node = self.cluster.node(list(self.faults.broken)[-1])
        else:
            aim = aim_at(name, self.cluster, self.adapter, self.plan.options.seed)
            node = aim.planned[0]
            self.faults.ask_role(node.name, aim.role)
        self._chosen.note(name, node)
        return node

    def _planned(self, name: str) -> Node:
        """Return the node that a name means, as the target was chosen last."""
        if name == TARGET:
            return self._aimed().planned[0]
        if name == SPARE:
            return next_spare(self.cluster, self.faults.members)
        if name == ADDED:
            return self.faults.added
        return self.cluster.node(name)

    @property
    def targets(self) -> list[Node]:
        """Every node that `target` means now: more than one only where it means a rack."""
        before = self._aimed().planned
        nodes = self._aimed().nodes()
        if nodes != before:
            record.retarget(self.directory, nodes[0])
            names = ", ".join(node.name for node in nodes)
            logger.info(f"target: {self.plan.options.target} is {names} now")
            self._log().point("note", "target", node=nodes[0].name, planned=before[0].name)
        return list(nodes)

    def await_milestone(self, name: str, timeout_s: float) -> dict[str, Any] | None:
        """Wait until the cluster reaches milestone `name`; None where it did not in time."""
        if self._watch is None or not self.faults.broke_something:
            raise ConfigurationError(f"wait_until {name}: nothing was broken yet in this run")
        self.status.phase = f"waiting until {name}"
        self.status.until(timeout_s)
        return self._watch.await_milestone(name, timeout_s)

    def await_idle(self, node: Node, timeout_s: float) -> dict[str, Any]:
        """Wait until `node` has no clients any more, where its database reports that."""
        if not isinstance(self.adapter, Idling):
            raise Unsupported(f"{self.adapter.engine()} does not report the clients of a node")
        self.status.phase = f"waiting until {node.name} has no clients"
        self.status.until(timeout_s)
        return self.adapter.await_idle(node, timeout_s, self.interruption.must_stop)

    @property
    def server_view(self) -> ServerView:
        """What Prometheus has of this run."""
        if self._observed is None:
            raise ConfigurationError("the run has no directory yet")
        spec, settings = self.plan.cluster.observe, self.plan.settings
        return ServerView(
            lambda: source_for(spec),
            self._observed.state,
            settings.baseline_s,
            settings.baseline_gap_s,
        )

    def hold(self) -> bool:
        """Wait until the load has held, at most as long as for a milestone; say whether it has."""
        limit_s, settings = self.plan.options.milestone_limit_s, self.plan.settings
        if self.baseline is None:
            return False
        self.status.phase = "waiting for the load to hold"
        self.status.until(limit_s)
        return wind_down.await_hold(
            self._load.generator,
            self.baseline,
            settings,
            limit_s,
            self._is_to_end,
            self._log(),
        )

    def measure(self, name: str, scope: str) -> dict[str, Any]:
        """Answer a probe: the measure of the whole run, or that there is none yet.

        Raises `ConfigurationError` for an unknown measure or scope: a limit on it
        would always be met.
        """
        streams = [stream.name for stream in self.plan.workload.streams]
        if problems := place_problems(name, scope, streams):
            raise ConfigurationError(problems)
        self._end_measuring()
        return answer(self._impact, self._finished, name, scope)

    def limits_are_met(self) -> dict[str, Any]:
        """Answer a probe: every limit of the run with its value, or that there is none yet.

        After the method it logs each of them on a line.
        """
        self._end_measuring()
        limits = limits_answer(self._impact, self._finished, self.plan.limits)
        if self._impact is not None:
            for each in limits["limits"]:
                logger.info(answer_words(each))
        return limits

    def _end_measuring(self) -> None:
        """After the method no probe is answered before the measuring has ended."""
        if not self._undoing:
            self.finish()

    def baseline_test(self, name: str) -> bool:
        """Whether the baseline passed its test `name`, or all that a run is not judged without."""
        if self.baseline is None:
            return False
        return self.baseline.test(name).ok if name else not self.baseline.failed

    # -- ending -------------------------------------------------------------------------------

    def finish(self) -> None:
        """After the method, once: wait for redundancy and hold, stop the load, read back."""
        if self._finished or self._method != "ended":
            return
        self._finished = True
        self._await_effects()
        if self._watch and self.faults.broke_something and self._settled():
            self._await_end(self._watch)
        else:
            self.hold()
        self.faults.prove_wipes()
        if self._undoing and self._is_to_end():
            self.interruption.abort("stopped while the load was awaited")
        if not self.interruption.aborted():  # else everything is put back first
            self._load.end(self.adapter, self._log(), stays=not self._brought_up)
            self._impact = analyze(self.directory.path)

    def _await_effects(self) -> None:
        """Wait until each break by others had its effect, or its time for one."""
        if self._external is not None:
            self.status.phase = "waiting for the effect of what others broke"
            wait_until(self._external.effects_known, stopped=self._is_to_end)

    def _is_to_end(self) -> bool:
        """Whether a person or a stop condition ended the run, at this moment or before."""
        return self.interruption.aborted() or (self._undoing and self.interruption.told_again())

    def _await_end(self, watch: ClusterWatch) -> None:
        """Wait for redundancy and the hold; again where the cluster lost redundancy meanwhile."""
        limit_s = self.plan.options.milestone_limit_s
        deadline = time.monotonic() + limit_s
        lost_again = True
        while lost_again and not self._is_to_end():
            self.status.phase = "waiting for redundancy"
            self.status.until(limit_s)
            watch.await_redundancy(limit_s, self._is_to_end)
            was_redundant = watch.is_redundant
            self.hold()
            lost_again = was_redundant and not watch.is_redundant and time.monotonic() < deadline
        watch.load_ends()

    def close(
        self,
        journal: dict[str, Any],
        unmet: Sequence[Mapping[str, Any]],
        settle: Callable[[str], None],
    ) -> dict[str, Any]:
        """End whatever still runs, put back what is broken, judge, and say it.

        `unmet` are the probes of the hypothesis that were not met, to be written down. `settle` is
        called with the verdict, to set in `journal` what hangs on it; the run's own journal is
        written after that.
        """
        if not self.interruption.reason:
            self.finish()  # where no probe of the hypothesis asked for a measure
        self.begin_undo()
        failures = ["the run was cut short while it put things back"]
        try:
            failures = self._put_back()
            if self._load.began:
                self._check_clock()
                self._end_load()
        finally:
            self._release(keep_claim=bool(failures))
        if self._trail is None:
            word = "aborted" if self.interruption.aborted() else "inconclusive"
            return {"verdict": word, "reasons": [self.interruption.reason]}
        try:
            for probe in unmet:
                self._log().point("check", "hypothesis", ok=False, **probe)
            impact = self._judge(journal, failures, settle)
        finally:
            not_stored = self._deliver(self.directory.path)
        return {"run": str(self.directory.path), "verdict": impact.verdict,
                "reasons": list(impact.reasons), "undo_failed": failures,
                "not_stored": not_stored}  # fmt: skip

    def _judge(
        self, journal: dict[str, Any], failures: list[str], settle: Callable[[str], None]
    ) -> Impact:
        """Write and report the result, and show it to those who watch the run."""
        try:
            impact = conclude(self.directory, journal, settle, self._remember)
            for failure in failures:
                logger.error(failure)
            if self._observed is not None:
                self._observed.judged(impact)
            return impact
        finally:
            if self._observed is not None:
                self._observed.end()

    def begin_undo(self) -> None:
        """From here on all is put back, whatever happens."""
        self._undoing = True
        self.interruption.no_more()
        self.status.phase = "putting back"

    def _put_back(self) -> list[str]:
        if not self.may_have_broken:
            return []
        failures = self.faults.put_back()
        self.faults.prove_wipes()
        for failure in failures:
            self._log().point("note", "undo_failed", reason=failure)
        if not failures:
            self._log().point("phase", "put_back")
        return failures

    def _end_load(self) -> None:
        """All is put back: who ended the run waits for the ledger only so long."""
        limit_s = READ_BACK_LIMIT_S if self.interruption.aborted() else None
        if limit_s is not None:
            logger.info(f"reading the ledger back, at most {limit_s:g} s; another Ctrl-C ends it")
        told_again, stays = self.interruption.told_again, not self._brought_up
        self._load.end(
            self.adapter, self._log(), stays=stays, limit_s=limit_s, told_to_end=told_again
        )

    def _release(self, keep_claim: bool) -> None:
        self.status.phase = "cleaning up"
        if self._watch is not None:
            self._watch.stop()
        if hasattr(self, "adapter"):
            self.adapter.close()
        if self._brought_up:
            if keep_claim or self._impact is None or self._impact.verdict != "pass":
                self._keep_lab_logs()
            lab.down(self.cluster.name)
        if self._in_cluster is not None:
            self._in_cluster.release()
        if self._claimed and not keep_claim:
            open_runs.release(self.cluster.name)
        self.status.stop()
        self.interruption.end()

    def _keep_lab_logs(self) -> None:
        """Keep the ends of the nodes' logs of a lab that is taken down."""
        if self._trail is None:
            return
        try:
            lab.keep_logs(self.cluster.name, self.directory.lab_logs)
        except (ClusterError, OSError) as error:
            logger.warning(f"the logs of the lab are not kept: {error}")

    # -- small helpers ------------------------------------------------------------------------

    def _aimed(self) -> Aim:
        if self._aim is None:
            raise ConfigurationError("no target was chosen: the run did not open")
        return self._aim

    def _to_wipe(self) -> list[Node]:
        """The nodes that the method wipes, as far as they can be told now."""
        nodes = []
        for name in self.plan.wipes:
            with contextlib.suppress(ClusterError, ConfigurationError):
                nodes.append(self._planned(name))
        return nodes

    def _written(self) -> Trail:
        if self._trail is None:
            raise ConfigurationError("the run has no directory yet")
        return self._trail

    def _log(self) -> EventLog:
        return self._written().events
