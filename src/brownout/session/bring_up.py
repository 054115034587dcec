"""Open a run: from nothing to a steady load with an accepted baseline. Nothing is broken here."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from brownout.base.errors import ClusterError, GeneratorError, Inconclusive, Refused, Unsupported
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Support
from brownout.faults.registry import supports
from brownout.infra import lab
from brownout.inventory.model import Cluster
from brownout.load.group import AnyGenerator
from brownout.measure import baseline as baselines
from brownout.measure.baseline import Baseline
from brownout.measure.settings import MeasureSettings
from brownout.session.plan import Plan
from brownout.session.targets import next_spare

__all__ = ["await_baseline", "bring_up", "check_foreseen", "check_support", "check_whole"]

Say = Callable[[str], None]
WHOLE_WITHIN_S = 60.0


def bring_up(cluster: Cluster, say: Say) -> tuple[Cluster, bool]:
    """Return the cluster to test and whether this run brought it up: a lab that is down is."""
    if cluster.lab is None:
        return cluster, False
    return lab.ensure(cluster, progress=say)


def check_foreseen(plan: Plan) -> None:
    """Refuse what a lab could not do here once it is up, before it is brought up."""
    if plan.cluster.lab is not None:
        _refuse(plan, [(need, lab.foreseen(plan.cluster.lab, need)) for need in plan.needs])


def check_support(plan: Plan, cluster: Cluster, adapter: Adapter) -> None:
    """Refuse a scenario that the database cannot do; never do a milder one instead."""
    if "add" in plan.needs:
        next_spare(cluster, ())
    _refuse(plan, [(need, supports(need, cluster, adapter)) for need in plan.needs])
    if "wipe" in plan.needs and not plan.cluster.allow_data_loss:
        raise Refused(
            f"scenario `{plan.scenario}` wipes a node, and the inventory of "
            f"`{plan.cluster.name}` does not say `allow_data_loss: true`",
            "set it there if losing a node's data is acceptable",
        )


def _refuse(plan: Plan, answers: Sequence[tuple[str, Support | None]]) -> None:
    """Raise `Unsupported` with every need that is answered with a no."""
    problems = [f"{need}: {answer.reason}" for need, answer in answers if answer and not answer.ok]
    if problems:
        raise Unsupported(
            f"scenario `{plan.scenario}` is unsupported on `{plan.cluster.name}` "
            f"({plan.cluster.database}): {'; '.join(problems)}"
        )


def check_whole(adapter: Adapter, within_s: float = WHOLE_WITHIN_S) -> dict[str, Any]:
    """Wait until the cluster is whole and redundant; return what it said of itself.

    Raises `ClusterError` where it is not after `within_s` seconds.
    """
    adapter.ready()
    state = wait_until(lambda: adapter.stable("whole"), within_s, so=lambda seen: seen.reached)
    if not state.reached:
        raise ClusterError(
            f"the cluster is not whole and redundant after {within_s:.0f} s: {state.detail}",
            "repair it before you break anything on purpose",
        )
    return dict(state.detail)


def await_baseline(
    generator: AnyGenerator, settings: MeasureSettings, tick: Callable[[Baseline | None], None]
) -> Baseline:
    """Wait until the load is steady; `tick` gets each check while it is not.

    In open loop throughput has half the time to become steady; from then on nothing waits for it,
    and what is made of it is not measured. Raises `Inconclusive`, naming the tests that failed,
    after `warmup_max_s` seconds.
    """
    baseline: Baseline | None = None
    patient = time.monotonic() + settings.warmup_max_s / 2

    def steady() -> bool:
        nonlocal baseline
        if not generator.alive:
            raise GeneratorError(f"while the baseline was awaited: {generator.obituary()}")
        now = generator.now()
        if now is not None and now > settings.baseline_s:
            with contextlib.suppress(ValueError):
                baseline = baselines.check(generator.live.snapshot(), now - 1.0, settings)
            enough = baseline is not None and not baseline.failed and time.monotonic() > patient
            if baseline is not None and (baseline.ok or enough):
                return True
        tick(baseline)
        return False

    if wait_until(steady, settings.warmup_max_s, 0.25) and baseline is not None:
        return baseline
    failed = [] if baseline is None else [f"{t.name}: {t.detail}" for t in baseline.failed]
    raise Inconclusive(
        f"no stable baseline within {settings.warmup_max_s:.0f} s"
        + (f": {'; '.join(failed)}" if failed else ": too little load was measured"),
        "lower the rate, quieten the machine, or raise `warmup_max_s`",
    )
