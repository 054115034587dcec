"""A set of finished runs: of one kind or not, the median, the worst, an interval of the median."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.impacts import made

from brownout.measure.impact import NEVER, Impact
from brownout.measure.measures import MEASURES
from brownout.measure.unit import OPERATIONS
from brownout.run.ledger import Ledger
from brownout.runs.run_set import FinishedRun, Runs, Spread, median

#: Those that are one number each.
NAMES = [
    m.name
    for m in MEASURES
    if "." not in m.name and m.limitable and m.unit is not OPERATIONS and m.scope == "each"
]


def impact(**measures: Any) -> Impact:
    fault = {"effective": 20.0, **dict.fromkeys(NAMES, 0.0), **measures}
    return made({"faults": [fault]})


def spreads(impacts: Sequence[Impact]) -> list[Spread]:
    return Runs(FinishedRun(Path(f"run-{n}"), each) for n, each in enumerate(impacts)).spreads()


def spread(measure: str, *values: Any) -> Spread:
    found = spreads([impact(**{measure: value}) for value in values])
    return next(one for one in found if one.measure == measure)


def test_dates_are_of_the_runs_of_which_it_is_known_when_they_began() -> None:
    days = [datetime(2026, 11, day, 23, tzinfo=UTC) for day in (25, 22)]
    dated = [FinishedRun(Path("run"), impact(), day) for day in days]
    undated = FinishedRun(Path("run"), impact())
    assert Runs([*dated, undated]).dates == "2026-11-22 to 2026-11-25"
    assert Runs([dated[0], undated]).dates == "2026-11-25"
    assert Runs([undated]).dates == "unknown date"


def test_median_and_worst_are_of_all_repeats() -> None:
    found = spread("tps_drop", 0.1, 0.5, 0.2)
    assert (found.median, found.worst) == (0.2, 0.5)


def test_the_worst_availability_is_the_lowest() -> None:
    assert spread("availability", 0.99, 0.9, 0.999).worst == 0.9


def test_a_recovery_that_was_never_seen_is_worse_than_any() -> None:
    found = spread("recovery_time", 3.0, None, 4.0)
    assert (found.never, found.median, found.worst) == (1, 4.0, None)


def test_a_measure_that_is_not_known_is_left_out_and_not_the_worst() -> None:
    found = spread("tps_drop", 0.1, None, 0.3)
    assert (found.never, found.worst) == (0, 0.3)


def test_a_milestone_counts_by_the_look_that_saw_it() -> None:
    assert spread("rejoin_time", [2.0, 2.1], [3.0, 3.1], [4.0, 4.2]).median == 3.1


def test_few_repeats_have_no_interval() -> None:
    assert spread("tps_drop", 0.1, 0.2, 0.3, 0.4).low is None


def test_the_interval_holds_the_median_and_lies_within_the_values() -> None:
    values = [0.10, 0.14, 0.12, 0.30, 0.11, 0.13, 0.16, 0.15, 0.12, 0.14]
    found = spread("tps_drop", *values)
    assert found.low is not None
    assert found.high is not None
    assert found.median is not None
    assert min(values) <= found.low <= found.median <= found.high < max(values)


def test_lost_writes_are_the_ledgers() -> None:
    found = spreads([replace(impact(), ledger=Ledger("lost", "7 are gone", lost=7))])
    assert next(one for one in found if one.measure == "lost_writes").worst == 7


@pytest.mark.parametrize("faults", [[], [{"effective": None}]])
def test_a_run_in_which_nothing_was_broken_counts_for_nothing(faults: list[Any]) -> None:
    nothing = made({"faults": faults, "ledger": {"state": "unknown"}})
    assert spreads([nothing]) == []
    (recovery,) = [
        found
        for found in spreads([nothing, impact(recovery_time=3.0)])
        if found.measure == "recovery_time"
    ]
    assert (recovery.values, recovery.never) == ((3.0,), 0)


def run(n: int, **changes: Any) -> FinishedRun:
    document = {"run_id": f"run-{n}", "experiment": {"name": "node-kill"}, "load": {"rate": 300.0},
                "cluster": {"name": "staging"}, "versions": {"server": "stone 6"}}  # fmt: skip
    return FinishedRun(Path(f"run-{n}"), made({**document, "faults": [], **changes}))


def test_each_thing_that_keeps_runs_from_being_repeats_is_named_with_both_values() -> None:
    other = run(2, load={"rate": 600.0}, versions={"server": "stone 7"})
    assert Runs([run(1), run(3)]).unlike() == []
    assert Runs([run(1), other]).unlike() == [
        "run-2: rate is 600.0, but 300.0 in run-1",
        "run-2: server is stone 7, but stone 6 in run-1",
    ]
    assert Runs([other]).unlike(run(1).subject, "the baseline") == [
        "run-2: rate is 600.0, but 300.0 in the baseline"
    ]


def test_runs_at_different_rates_are_of_different_kinds() -> None:
    kinds = Runs([run(1), run(2, load={"rate": 600.0}), run(3)]).groups()
    assert {kind: [each.run_id for each in runs] for kind, runs in kinds.items()} == {
        "node-kill on staging, 300/s": ["run-1", "run-3"],
        "node-kill on staging, 600/s": ["run-2"],
    }


def open_loop(rate: float, **more: Any) -> dict[str, Any]:
    return {"load": {"loop": "open", "rate": rate, **more}}


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (open_loop(1.4), open_loop(0.6), ["rate 0.6", "rate 1.4"]),
        ({"workload": {"streams": [{"deadline_s": 1.0}]}},
         {"workload": {"streams": [{"deadline_s": 1.04}]}}, ["deadline_s 1.04"]),
        ({"cluster": {"name": "staging", "members": 3}},
         {"cluster": {"name": "staging", "members": 5}}, ["members 5"]),
        ({"workload": {"name": "w", "streams": [{"concurrency": 8}]}},
         {"workload": {"name": "w", "streams": [{"concurrency": 64}]}}, ["concurrency 64"]),
    ],
)  # fmt: skip
def test_runs_whose_kinds_are_worded_alike_are_not_mixed(
    one: dict[str, Any], other: dict[str, Any], words: list[str]
) -> None:
    first, second = run(1, **one), run(2, **other)
    kinds = Runs([first, second, run(3, **one)]).groups()
    assert sorted(len(runs) for runs in kinds.values()) == [1, 2]
    assert all(any(word in kind for kind in kinds) for word in words)


def test_no_runs_at_all_are_too_few() -> None:
    assert Runs().unlike() == []
    assert Runs().unfit(5)[0].startswith("found 0 runs, wanted at least 5")


def test_versions_may_differ_where_only_other_things_are_asked_for() -> None:
    newer = run(2, versions={"server": "stone 7"})
    assert Runs([run(1), newer]).unlike(among=("scenario",)) == []


def test_a_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([0.9, 1.23]) == pytest.approx(1.065)
    assert median([4.0, 1.0, 2.0, 3.0]) == 2.5
    assert median([1.0, NEVER]) == NEVER
    assert median([1.0, 2.0, NEVER]) == 2.0
    assert median([1.0, None, 2.0]) is None
    assert median([]) is None
