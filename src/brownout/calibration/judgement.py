"""Truth beside measure: one row a figure, and whether its error is within what is wanted. Pure.

Wanted is what docs/measures.md promises: a drop within 1 percentage point of the true mean of 1 s
beyond the noise, edges within 0.1 s where the dip is deeper than twice the noise of a bucket and
within 1 s where it is not, one lane of five as 20 % within 1, every lost write and none besides.
A machine that stood still for 0.02 s moved 2 % of a second's operations to where they do not
belong: what the generator says of itself widens what is wanted by as much.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brownout.calibration.figures import Dips, Measured
from brownout.calibration.layout import Placed
from brownout.calibration.scenario import Setup
from brownout.calibration.truth import Truth
from brownout.measure.unit import OPERATIONS, RATIO, SECONDS, WRITES, Unit
from brownout.run.table import BUCKETS_PER_S

__all__ = ["Row", "State", "judge", "not_measured", "outcome"]

#: `untold`: the measures do not claim to see it; `unmeasured`: the run says nothing.
State = Literal["within", "out", "untold", "unmeasured"]
Value = float | Dips | None

POINT = 0.01
SHARP_S, BLUNT_S = 0.1, 1.0
BLACKOUT_S = 0.1
#: Nearer to the baseline than this, throughput alone tells of no dip.
THETA_MIN = 0.05
#: Later than this, what is wanted would be so wide that it says nothing.
MOST_STALL_S = 0.1
#: So much standing still looks like a dip of 5 % to throughput, half of it at either end.
DIP_STALL_S = 0.025
#: So much takes 5 % of one bucket, and a sharp edge is the last bucket with so many missing, at
#: most one mean of 1 s away.
BUCKET_STALL_S, MEAN_S = THETA_MIN / BUCKETS_PER_S, 1.0
#: What is under way when an effect begins or ends: it is born before and hit after.
UNDER_WAY_S = 0.005
#: Rounding of times in the files.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of one scenario, all its values in `unit`."""

    scenario: str
    figure: str
    unit: Unit
    truth: Value
    measured: Value
    error: float | None
    wanted: float
    state: State
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Case:
    truth: Truth
    placed: Placed
    measured: Measured

    @property
    def setup(self) -> Setup:
        return self.placed.scenario.setup

    @property
    def stall_s(self) -> float:
        """How late the generator was at worst meanwhile, in seconds."""
        return self.measured.stall_s

    @property
    def true_drop(self) -> float:
        """1 - the lowest mean of 1 s ÷ the mean of the baseline, by the server's own count."""
        level = self.truth.level(*self.measured.base)
        return self.truth.deepest(self.placed.at, self.measured.end, level)


def judge(truth: Truth, placed: Placed, measured: Measured) -> list[Row]:
    """Return a row for each figure of a scenario."""
    case = _Case(truth, placed, measured)
    if placed.scenario.setup.baseline and measured.stall_s > MOST_STALL_S:
        why = f"the generator was {1000 * measured.stall_s:.0f} ms late: the machine is too busy"
        return not_measured(placed, why)
    return [_FIGURES[figure](case, figure) for figure in placed.scenario.figures]


def not_measured(placed: Placed, why: str) -> list[Row]:
    """Return the rows of a scenario whose run says nothing."""
    name = placed.scenario.name
    return [
        Row(name, figure, _UNITS[figure], None, None, None, 0.0, "unmeasured", why)
        for figure in placed.scenario.figures
    ]


def outcome(rows: Sequence[Row]) -> int:
    """Return the exit code: 0 all within, 1 some out, 2 some could not be measured."""
    states = {row.state for row in rows}
    if "out" in states:
        return 1
    return 2 if "unmeasured" in states or not rows else 0


def _drop(case: _Case, figure: str) -> Row:
    # B is a median of a finite baseline: it carries that much of the noise.
    spread = case.setup.noise / math.sqrt(max(1.0, case.measured.base[1] - case.measured.base[0]))
    return _number(case, figure, case.true_drop, case.measured.value("tps_drop"),
                   POINT + spread + case.stall_s)  # fmt: skip


def _edges(case: _Case, figure: str) -> Row:
    depth = min(loss.share for loss in case.truth.losses(case.placed.effects))
    sharp = depth > 2 * case.setup.bucket_noise
    return _dips(case, figure, case.measured.dips, (SHARP_S if sharp else BLUNT_S) + case.stall_s)


def _edges_by_throughput(case: _Case, figure: str) -> Row:
    """A fall of less than theta in a mean of 1 s is within the noise and need not be found."""
    depth, theta = case.true_drop, case.measured.theta
    shallowest = min(loss.share for loss in case.truth.losses(case.placed.effects))
    sharp = min(depth, shallowest) > 2 * max(THETA_MIN, 3 * case.setup.bucket_noise)
    wanted = (SHARP_S if sharp else BLUNT_S) + case.stall_s
    row = _dips(case, figure, case.measured.throughput_dips, wanted)
    if depth <= theta + case.setup.noise + POINT:
        note = f"a drop of {100 * depth:.1f} % is within the noise of {100 * theta:.1f} %"
        return replace(row, error=None, state="untold", note=note)
    by_a_bucket = row.error is not None and sharp and abs(row.error) <= MEAN_S + wanted
    stalls = [
        (case.measured.base_stall_s, DIP_STALL_S),
        (case.stall_s if row.error is None else 0.0, DIP_STALL_S),
        (case.measured.held_up_s if row.error is None else 0.0, DIP_STALL_S),
        (case.stall_s if by_a_bucket else 0.0, BUCKET_STALL_S),
    ]
    stood = max((stall for stall, enough in stalls if stall > enough), default=0.0)
    if row.state == "out" and stood:
        note = (
            f"the machine stood still for {1000 * stood:.0f} ms, which throughput takes for noise"
        )
        return replace(row, state="unmeasured", note=note)
    return row


def _lost_operations(case: _Case, figure: str) -> Row:
    """Every operation that an effect hit; of a freeze, all but those of the last deadline.

    The last deadline of a freeze ends when all that it held back is answered, as the freeze does.
    """
    losses = case.truth.losses(case.placed.effects)
    true = float(case.truth.hits(case.placed.effects))
    frozen = False
    for effect, loss in zip(case.placed.scenario.effects, losses, strict=True):
        if effect["effect"] == "freeze":
            frozen = True
            true += case.setup.rate * max(0.0, loss.end - loss.start - case.setup.deadline_s)
    share = max(loss.share for loss in losses)
    under_way = 2 * (UNDER_WAY_S + case.stall_s) * case.setup.rate * share
    wanted = max(1.0, under_way, 0.01 * true if frozen else 0.0)
    return _number(case, figure, true, case.measured.value(figure), wanted)


def _blackout(case: _Case, figure: str) -> Row:
    true = sum(loss.end - loss.start for loss in case.truth.losses(case.placed.effects))
    return _number(case, figure, true, case.measured.value(figure),
                   BLACKOUT_S + case.stall_s)  # fmt: skip


def _recovery(case: _Case, figure: str) -> Row:
    """Service is back where the last loss with no other within the hold after it ends."""
    true = case.truth.dips(case.placed.effects)[-1][1] - case.placed.at
    return _number(case, figure, true, case.measured.value("recovery_time"),
                   SHARP_S + case.stall_s)  # fmt: skip


def _never_recovers(case: _Case, figure: str) -> Row:
    measured = case.measured.value("recovery_time")
    state: State = "within" if measured is None else "out"
    return Row(case.placed.scenario.name, figure, _UNITS[figure], None, measured, None, 0.0, state)


def _lane_share(case: _Case, figure: str) -> Row:
    """One lane of `lanes`; what the keys made of it is in the note."""
    (effect,) = case.placed.scenario.effects
    keys = case.truth.share_of_lane(int(effect["lane"]), case.placed.at)
    row = _number(case, figure, 1 / case.setup.lanes, case.measured.value("mean_drop"), POINT)
    note = f"the lane had {100 * keys:.1f} % of the operations before"
    return replace(row, note=note)


def _ledger(truth: Callable[[Truth], int], name: str) -> Callable[[_Case, str], Row]:
    def row(case: _Case, figure: str) -> Row:
        state, value = case.measured.ledger.state, float(getattr(case.measured.ledger, name))
        measured = None if state == "unknown" else value
        return _number(case, figure, float(truth(case.truth)), measured, 0.0)

    return row


def _number(case: _Case, figure: str, true: float, measured: float | None, wanted: float) -> Row:
    error = None if measured is None else measured - true
    within = error is not None and abs(error) <= wanted + _ROUNDING
    return Row(case.placed.scenario.name, figure, _UNITS[figure], true, measured, error, wanted,
               "within" if within else "out")  # fmt: skip


def _dips(case: _Case, figure: str, measured: Dips, wanted: float) -> Row:
    """The worst edge, if there are as many dips as there should be."""
    true = case.truth.dips(case.placed.effects)
    error: float | None = None
    if len(measured) == len(true):
        pairs = [
            (measured_edge - true_edge)
            for one, other in zip(measured, true, strict=True)
            for measured_edge, true_edge in zip(one, other, strict=True)
        ]
        error = max(pairs, key=abs)
    within = error is not None and abs(error) <= wanted + _ROUNDING
    note = "" if error is not None else f"{len(measured)} dips found, {len(true)} scripted"
    return Row(case.placed.scenario.name, figure, _UNITS[figure], true, measured, error, wanted,
               "within" if within else "out", note)  # fmt: skip


_FIGURES: dict[str, Callable[[_Case, str], Row]] = {
    "drop": _drop,
    "edges": _edges,
    "edges_by_throughput": _edges_by_throughput,
    "lost_operations": _lost_operations,
    "blackout": _blackout,
    "recovery": _recovery,
    "never_recovers": _never_recovers,
    "lane_share": _lane_share,
    "lost_writes": _ledger(lambda truth: truth.lost_writes()[0], "lost"),
    "lost_keys": _ledger(lambda truth: truth.lost_writes()[1], "lost_keys"),
    "late_keys": _ledger(lambda truth: truth.late_keys(), "overwritten_by_late_keys"),
}
_KEYS = Unit("keys")
_UNITS = {
    "drop": RATIO,
    "edges": SECONDS,
    "edges_by_throughput": SECONDS,
    "lost_operations": OPERATIONS,
    "blackout": SECONDS,
    "recovery": SECONDS,
    "never_recovers": SECONDS,
    "lane_share": RATIO,
    "lost_writes": WRITES,
    "lost_keys": _KEYS,
    "late_keys": _KEYS,
}
