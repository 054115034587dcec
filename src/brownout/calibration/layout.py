"""Which scenario happens when: those of one setup follow one another in one run. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brownout.calibration.scenario import Scenario, Setup
from brownout.measure.settings import MeasureSettings

__all__ = ["Placed", "RunPlan", "lay_out", "settings_for"]

#: Between a fault's end, its deadline and its hold, and the next fault; at least.
_SPARE_S = 0.7
#: A ledger needs no baseline, but writes that were there before.
_LEAD_S = 1.2
#: How long a ledger's run continues after its fault: what is in doubt settles.
_SETTLE_S = 0.3


@dataclass(frozen=True, slots=True)
class Placed:
    """A scenario at its time: from `at` on, over by `until`; its effects in the run's script."""

    scenario: Scenario
    at: float
    until: float
    effects: range


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run: scenarios one after another under one load, for `seconds`."""

    setup: Setup
    placed: tuple[Placed, ...]
    script: Mapping[str, Any]
    seconds: float
    seed: int


def settings_for(quick: bool) -> MeasureSettings:
    """Return how a calibration measures: as the lab does, with a shorter hold."""
    lab = MeasureSettings.lab()
    return replace(lab, baseline_s=6.0, hold_s=2.0) if quick else replace(lab, hold_s=3.0)


def lay_out(
    scenarios: Sequence[Scenario], settings: MeasureSettings, seed: int
) -> list[RunPlan]:  # fmt: skip
    """Return the runs that hold all `scenarios`, the longest first.

    Faults begin anywhere within a bucket, by `seed`.
    """
    setups = dict.fromkeys(scenario.setup for scenario in scenarios)
    plans = [
        _plan(setup, [s for s in scenarios if s.setup == setup], settings, seed + number)
        for number, setup in enumerate(setups)
    ]
    return sorted(plans, key=lambda plan: -plan.seconds)


def _plan(
    setup: Setup, scenarios: Sequence[Scenario], settings: MeasureSettings, seed: int
) -> RunPlan:
    ordered = sorted(scenarios, key=lambda scenario: scenario.last)
    chance = random.Random(seed)
    lead = settings.baseline_s + settings.baseline_gap_s + 0.5 if setup.baseline else _LEAD_S
    after = settings.hold_s + setup.deadline_s + _SPARE_S if setup.baseline else _SETTLE_S
    placed: list[Placed] = []
    begun = 0
    for scenario in ordered:
        since = placed[-1].until if placed else lead
        at = round(since + chance.uniform(0.0, 0.1), 3)
        until = at + scenario.length_s + after
        placed.append(Placed(scenario, at, until, range(begun, begun + len(scenario.effects))))
        begun += len(scenario.effects)
    return RunPlan(setup, tuple(placed), _script(setup, placed, seed), placed[-1].until, seed)


def _script(setup: Setup, placed: Sequence[Placed], seed: int) -> dict[str, Any]:
    """Return the scripted server's script, with each effect at its time in the run."""
    effects = [
        {**effect, "at": round(one.at + effect["at"], 3)}
        for one in placed
        for effect in one.scenario.effects
    ]
    return {"lanes": setup.lanes, "latency_ms": setup.latency_ms, "seed": seed, "effects": effects}
