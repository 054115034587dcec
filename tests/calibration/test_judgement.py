"""Each figure is within what is wanted, or out, by the truth alone."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from tests.impacts import fault_of

from brownout.calibration.figures import Measured
from brownout.calibration.judgement import Row, judge, not_measured, outcome
from brownout.calibration.layout import Placed, RunPlan
from brownout.calibration.scenario import Scenario, Setup
from brownout.calibration.table import as_cells, markdown, notes, summary
from brownout.calibration.trial import Driven
from brownout.calibration.truth import Truth
from brownout.measure.impact import Fault
from brownout.run.ledger import Ledger

FIGURES = ("drop", "edges", "edges_by_throughput", "lost_operations", "blackout", "recovery")
SCENARIO = Scenario("dip", "", Setup("even"), ({"at": 0, "for": 2.0, "effect": "error"},), 2.0,
                    FIGURES)  # fmt: skip
PLACED = Placed(SCENARIO, at=10.03, until=16.0, effects=range(1))


def truth(share: float = 0.4) -> Truth:
    """1,000 a second, and from 10.03 s on for 2 s less."""
    served = np.full(1000, 20.0)
    served[502:602] *= 1 - share
    effect = {"at": 10.03, "for": 2.0, "effect": "error", "seen": 2000, "hit": round(2000 * share)}
    return Truth((effect,), 0.02, (served,), (served,), (), ())


def fault_with(**measures: float | None) -> Fault:
    faithful = {"tps_drop": 0.4, "lost_operations": 800, "blackout": 2.0, "recovery_time": 2.0}
    return fault_of({**faithful, **measures})


def found(**changes: object) -> Measured:
    """What a faithful measure makes of `truth()`."""
    fault = fault_with()
    dips = [(10.0, 12.1)]
    ledger = Ledger("none", "")
    measured = Measured((1.0, 9.0), 16.0, 0.05, fault, ledger, dips, dips, 0.0, 0.0, 0.0)
    return replace(measured, **changes)  # type: ignore[arg-type]


def row(figure: str, measured: Measured, of: Truth | None = None) -> Row:
    return next(r for r in judge(of or truth(), PLACED, measured) if r.figure == figure)


def test_a_faithful_measure_is_within_in_every_figure() -> None:
    rows = judge(truth(), PLACED, found())
    assert {r.state for r in rows} == {"within"}
    assert outcome(rows) == 0


@pytest.mark.parametrize(
    ("figure", "changes"),
    [
        ("drop", {"fault": fault_with(tps_drop=0.42)}),
        ("drop", {"fault": fault_with(tps_drop=None)}),
        ("edges", {"dips": [(9.9, 12.0)]}),
        ("edges", {"dips": []}),
        ("edges", {"dips": [(10.0, 11.0), (11.5, 12.1)]}),
        ("edges_by_throughput", {"throughput_dips": [(10.0, 12.4)]}),
        ("lost_operations", {"fault": fault_with(lost_operations=700)}),
        ("blackout", {"fault": fault_with(blackout=1.7)}),
        ("recovery", {"fault": fault_with(recovery_time=None)}),
    ],
)
def test_a_measure_that_is_off_is_out(figure: str, changes: dict[str, object]) -> None:
    measured = found(**changes)
    assert row(figure, measured).state == "out"
    assert outcome(judge(truth(), PLACED, measured)) == 1


def test_a_wrong_truth_is_out_as_well() -> None:
    wrong = truth(share=0.3)
    assert row("drop", found(), wrong).state == "out"
    assert row("lost_operations", found(), wrong).error == 200


def test_what_a_freeze_held_back_and_was_answered_too_late_is_lost() -> None:
    freeze = {"at": 0, "for": 5.0, "effect": "freeze"}
    frozen = Scenario("freeze", "", Setup("even"), (freeze,), 5.0, ("lost_operations",))
    placed = replace(PLACED, scenario=frozen)
    seen = {"at": 10.03, "for": 5.0, "effect": "freeze", "seen": 0, "hit": 0}
    counted = found(fault=fault_with(lost_operations=4060))
    at_once, later = (
        replace(truth(), effects=({**seen, "ended_t": ended},)) for ended in (15.03, 15.08)
    )
    assert [each.state for each in judge(at_once, placed, counted)] == ["out"]
    assert [each.state for each in judge(later, placed, counted)] == ["within"]


def test_what_throughput_cannot_tell_from_noise_is_not_claimed() -> None:
    shallow = truth(share=0.04)
    unseen = found(throughput_dips=[])
    assert row("edges_by_throughput", unseen, shallow).state == "untold"


def test_a_machine_that_stood_still_widens_what_is_wanted_and_in_the_end_says_nothing() -> None:
    off = fault_with(tps_drop=0.43)
    assert row("drop", found(fault=off)).state == "out"
    assert row("drop", found(fault=off, stall_s=0.03)).state == "within"
    rows = judge(truth(), PLACED, found(fault=off, stall_s=0.2))
    assert {r.state for r in rows} == {"unmeasured"}
    assert outcome(rows) == 2


def test_a_machine_that_stood_still_in_the_baseline_hides_dips_from_throughput() -> None:
    late = found(throughput_dips=[(11.5, 12.1)])
    assert row("edges_by_throughput", late).state == "out"
    stalled = replace(late, base_stall_s=0.2)
    assert row("edges_by_throughput", stalled).state == "unmeasured"
    assert row("edges", replace(stalled, dips=[])).state == "out"


def test_a_client_that_stood_still_makes_a_dip_that_no_server_made() -> None:
    twice = found(throughput_dips=[(10.0, 12.1), (13.0, 13.1)])
    assert row("edges_by_throughput", replace(twice, held_up_s=0.02)).state == "out"
    assert row("edges_by_throughput", replace(twice, held_up_s=0.111)).state == "unmeasured"
    moved = found(throughput_dips=[(10.0, 12.6)], held_up_s=0.111)
    assert row("edges_by_throughput", moved).state == "out"
    dips = [(10.0, 12.1), (13.0, 13.1)]
    assert row("edges", found(dips=dips, held_up_s=0.111)).state == "out"


def test_only_what_no_effect_hit_was_held_up_by_the_machine() -> None:
    setup = replace(PLACED.scenario.setup, latency_ms=1.0)
    placed = replace(PLACED, scenario=replace(PLACED.scenario, setup=setup))
    plan = RunPlan(setup, (placed,), {}, 20.0, 1)
    nothing = cast(Any, None)

    def held_up(*responses: tuple[float, float]) -> float:
        return Driven(plan, truth(), nothing, nothing, (), responses).held_up(placed)

    assert held_up() == held_up((10.5, 0.0005)) == 0
    assert held_up((9.5, 0.112), (13.0, 0.05)) == pytest.approx(0.111)
    assert held_up((8.9, 0.5), (10.0, 0.5), (11.0, 0.5), (12.2, 0.5), (16.1, 0.5)) == 0


def test_a_short_bucket_of_a_late_generator_moves_an_edge_by_throughput() -> None:
    moved = found(throughput_dips=[(10.0, 12.6)])
    assert row("edges_by_throughput", replace(moved, stall_s=0.004)).state == "out"
    assert row("edges_by_throughput", replace(moved, stall_s=0.02)).state == "unmeasured"
    further = replace(moved, throughput_dips=[(10.0, 13.5)], stall_s=0.02)
    assert row("edges_by_throughput", further).state == "out"
    assert row("edges", replace(moved, dips=[(10.0, 12.6)], stall_s=0.02)).state == "out"


def test_nothing_measured_is_never_a_success() -> None:
    assert outcome([]) == 2
    rows = [*judge(truth(), PLACED, found()), *not_measured(PLACED, "starved")]
    assert outcome(rows) == 2
    assert outcome([*rows, replace(rows[0], state="out")]) == 1


def test_the_table_has_every_figure_and_each_reason_once() -> None:
    rows = [*judge(truth(), PLACED, found()), *not_measured(PLACED, "starved")]
    assert len(as_cells(rows)) == len(rows)
    assert "| dip | drop, 1 s mean | 40 % | 40 % |" in markdown(rows)
    assert [note for note in notes(rows) if note.endswith("starved")] == [
        "dip, drop, 1 s mean and 5 more: starved"
    ]
    assert summary(rows).startswith("12 figures: 6 within, 0 out")
