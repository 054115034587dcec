"""The verdict: one table of what is wrong with a run, in the order that it is decided in."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.impacts import fault_of
from tests.measure.signals import flat_level
from tests.wording import mentions

from brownout.judge.slo import Limit
from brownout.judge.validity import Facts
from brownout.judge.verdict import Verdict, judge
from brownout.measure.baseline import Baseline, Check
from brownout.measure.impact import Fault
from brownout.measure.settings import MeasureSettings
from brownout.run.copies import Copies
from brownout.run.events import Event
from brownout.run.histories import Histories
from brownout.run.ledger import Ledger
from brownout.run.reads import LaneReads, Reads

WHOLE = Event(1, "check", "cluster_whole", fields={"ok": True, "detail": {}})
NOT_WHOLE = Event(1, "check", "cluster_whole", fields={"ok": False, "detail": "n2 is down"})
KILL = Event(2, "break", "kill_node", "n1", requested=20.0, effective=20.3)
BACK = Event(8, "phase", "put_back", requested=60.0)
ABORT = Event(3, "abort", "abort", requested=25.0, fields={"reason": "Ctrl-C"})
CLEAN = Ledger("clean", "all there", keys=9, read=9, acknowledged=9, ok=9)
LOST = Ledger("lost", "3 of 9 acknowledged writes are gone", keys=9, lost=3)
UNKNOWN = Ledger("unknown", "2 of 9 keys could not be read back", keys=9, unread=2)
NONE = Ledger("none", "no stream is verified")


def baseline_of(**failing: bool) -> Baseline:
    names = ("length", "drift", "delivered")
    tests = [Check(n, failing.get(n, True), 0.5, 0.1, f"{n} found 0.5") for n in names]
    return Baseline(flat_level(800.0), tuple(tests))


GOOD = Facts(
    events=(WHOLE, KILL, BACK), baseline=baseline_of(), ledger=CLEAN,
    settings=MeasureSettings.lab(), generator_ended=True, lag_p99_ms=1.0, offered=10_000,
    missed=0, violations=0,
)  # fmt: skip


def fault(**measures: Any) -> Fault:
    known = {
        "name": "kill_node", "effective": 20.3, "until": 60.0, "theta": 0.05, "tps_drop": 1.0,
        "recovery_time": 3.0, "availability": 0.9, "errors": {"late": 3, "no-node": 4},
        "redundancy_time": [9.0, 9.1], "milestones": [reached("redundant", 29.4)],
        "latency": {"during": {"n": 9, "p99_us": 5000}}, "lost_operations": 700,
        "latency_all": {"during": {"n": 9, "p99_us": None}, "after": {"n": 0, "p99_us": None}},
        "time_above": {"p99_10ms": 3.0}, "errors_after_retry": None,
        "scopes": {"write": {"recovery_time": 4.0, "theta": 0.2, "tps_drop": 1.0}},
    }  # fmt: skip
    return fault_of({**known, **measures})


def reached(name: str, first_yes: float | None, limit_s: float | None = None) -> dict[str, Any]:
    return {"name": name, "last_no": 1.0, "first_yes": first_yes, "limit_s": limit_s}


def unmet_probe(when: str = "after", answered: bool = True, by_limits: bool = False) -> Event:
    """A probe of the hypothesis that was not within its tolerance, or failed."""
    fields = {"ok": False, "probe": "error-rate", "when": when, "times": 1, "answered": answered,
              "by_limits": by_limits, "detail": "0.07"}  # fmt: skip
    return Event(9, "check", "hypothesis", fields=fields)


def limit(measure: str, value: float, scope: str = "total") -> Limit:
    return Limit(measure, value, scope, "test")


KEPT = Limit("errors", 100, "total", "test")


def verdict(
    facts: Facts = GOOD, *limits: Limit, faults: tuple[Fault, ...] | None = None
) -> Verdict:
    """Judge a run by `limits`, or by one that it keeps."""
    return judge([fault()] if faults is None else faults, limits or (KEPT,), facts)


def unmet(found: Verdict) -> list[str]:
    return [condition.name for condition in found.validity if condition.ok is False]


def test_a_run_with_nothing_wrong_passes() -> None:
    found = verdict(GOOD, limit("recovery_time", 10))
    assert (found.word, found.reasons, unmet(found)) == ("pass", (), [])


@pytest.mark.parametrize(
    ("measure", "value", "met"),
    [
        ("recovery_time", 3.0, True),
        ("recovery_time", 2.9, False),
        ("availability", 0.9, True),
        ("availability", 0.91, False),
        ("errors", 7, True),
        ("errors", 6, False),
        ("redundancy_time", 9.1, True),
        ("redundancy_time", 9.05, False),  # the later bound: it may have taken as long
        ("latency.during.p99_us", 5000, True),
        ("latency.during.p99_us", 4999, False),
        ("latency_all.during.p99_us", 10**9, False),  # longer than the deadline
        ("latency_all.after.p99_us", 10**9, None),
        ("latency.after.p99_us", 10**9, None),
        ("time_above.p99_10ms", 3, True),
        ("errors_after_retry", 9, None),
        ("rejoin_time", 100, None),  # nobody looked for it
        ("lost_writes", 0, True),
        ("tps_drop", 0.05, False),
        ("tps_drop", 0.04, None),  # below the noise, whatever was measured
    ],
)
def test_a_limit_is_met_or_not_or_was_not_judged(
    measure: str, value: float, met: bool | None
) -> None:
    found = verdict(GOOD, limit(measure, value))
    assert found.slos[0].met is met
    assert found.word == {True: "pass", False: "fail", None: "inconclusive"}[met]


def test_a_limit_on_one_lane_is_open_where_there_is_no_other() -> None:
    found = verdict(GOOD, limit("partial_outage", 8))
    assert found.word == "inconclusive"
    assert found.slos[0].detail.startswith("not measured: it takes two lanes")


def test_the_noise_is_that_of_the_limits_scope() -> None:
    found = verdict(GOOD, limit("tps_drop", 0.1, "write"), limit("recovery_time", 4, "write"))
    assert [each.met for each in found.slos] == [None, True]
    assert "10.0% is below the noise of 20.0%" in found.slos[0].detail


def test_a_run_without_a_limit_is_no_pass() -> None:
    found = judge([fault()], [], GOOD)
    assert (found.word, unmet(found)) == ("inconclusive", ["slos_evaluated"])
    assert found.reasons == ("slos_evaluated: no limit is set to judge by",)


@pytest.mark.parametrize("name", ["recovery_time", "settled_time"])
@pytest.mark.parametrize(("most", "word"), [(39.6, "fail"), (39.8, "inconclusive")])
def test_what_never_came_breaks_each_limit_that_was_observed_to_its_end(
    name: str, most: float, word: str
) -> None:
    found = verdict(GOOD, limit(name, most), faults=(fault(**{name: None}),))
    assert found.word == word
    assert found.slos[0].value is None
    assert "not within the 39.7 s that were observed" in found.reasons[0]


def test_a_time_that_nobody_observed_is_open_after_a_refused_action() -> None:
    refused = Event(9, "note", "failure", fields={"reason": "action `start` failed"})
    facts = replace(GOOD, events=(WHOLE, KILL, refused, BACK))
    cut = fault(recovery_time=None, until=21.0)
    found = verdict(facts, limit("recovery_time", 6), faults=(cut,))
    assert (found.word, found.slos[0].met) == ("inconclusive", None)
    assert mentions(found.slos[0].detail, "0.7 s")


def test_a_broken_contract_makes_a_run_inconclusive_unless_the_experiment_allows_it() -> None:
    fields = {"ok": False, "detail": "the pause of n1 ended by itself"}
    ended = Event(9, "contract", "duration", "n1", requested=22.0, fields=fields)
    found = verdict(replace(GOOD, events=(WHOLE, KILL, ended, BACK)))
    assert (found.word, unmet(found)) == ("inconclusive", ["contract_kept"])
    assert found.reasons == ("contract_kept: the pause of n1 ended by itself",)
    allowed = replace(ended, fields={**fields, "ok": True})
    assert verdict(replace(GOOD, events=(WHOLE, KILL, allowed, BACK))).word == "pass"


def test_what_another_run_on_the_cluster_may_have_done_fails_nothing() -> None:
    fields = {"ok": False, "detail": "another run began on this cluster meanwhile"}
    shared = Event(9, "contract", "cluster", requested=22.0, fields=fields)
    facts = replace(GOOD, events=(WHOLE, KILL, shared, BACK), ledger=LOST)
    found = verdict(facts, limit("recovery_time", 0.1))
    assert found.word == "inconclusive"
    assert "contract_kept" in unmet(found)
    assert "not counted (another run had the cluster): lost_writes: 3 of 9" in found.remarks[1]


def test_a_limit_longer_than_we_awaited_its_milestone_is_open() -> None:
    milestones = [reached("redundant", None, 12.0)]
    cut = fault(redundancy_time=None, milestones=milestones, until=40.3)
    found = verdict(GOOD, limit("redundancy_time", 120), faults=(cut,))
    assert (found.word, found.slos[0].met) == ("inconclusive", None)
    assert verdict(GOOD, limit("redundancy_time", 10), faults=(cut,)).word == "fail"
    assert verdict(GOOD, faults=(cut,)).word == "fail"  # there is no other limit on it


@pytest.mark.parametrize(
    ("measure", "most", "ends", "met"),
    [
        ("recovery_time", 10, (2.3, 8.6), True),
        ("recovery_time", 6, (2.3, 8.6), None),
        ("recovery_time", 2, (2.3, 8.6), False),
        ("recovery_time", 6, (2.3, None), None),
        ("recovery_time", 2, (2.3, None), False),
        ("availability", 0.9, (0.99, 0.95), True),
        ("availability", 0.97, (0.99, 0.95), None),
        ("availability", 0.995, (0.99, 0.95), False),
        ("latency_all.during.p99_us", 4000, (3000, None), None),
        ("latency_all.during.p99_us", 2000, (3000, None), False),
    ],
)
def test_a_limit_is_met_by_the_worst_case_broken_by_the_best_and_open_between(
    measure: str, most: float, ends: tuple[float, float | None], met: bool | None
) -> None:
    facts = replace(GOOD, missed=100)
    starved = fault(ranges={measure: list(ends)})
    found = verdict(facts, limit(measure, most), faults=(starved,))
    assert found.slos[0].met is met
    assert (found.slos[0].best, found.slos[0].worst) == ends
    assert found.word == {True: "pass", False: "fail", None: "inconclusive"}[met]
    assert "starved: it missed 1.00% of its schedule" in found.remarks[0]


def test_a_limit_that_is_open_says_between_what() -> None:
    facts = replace(GOOD, missed=100)
    found = verdict(
        facts, limit("recovery_time", 6), faults=(fault(ranges={"recovery_time": [2.3, None]}),)
    )
    assert "2.3 s at best, never at worst: the load generator missed" in found.slos[0].detail


def test_with_several_faults_the_worst_of_each_case_counts() -> None:
    one, other = ({"recovery_time": ends} for ends in ([2.0, 9.0], [3.0, 4.0]))
    found = verdict(
        replace(GOOD, missed=100), limit("recovery_time", 6),
        faults=(fault(ranges=one), fault(ranges=other)),
    )  # fmt: skip
    assert (found.slos[0].best, found.slos[0].worst) == (3.0, 9.0)


@pytest.mark.parametrize(("most", "met"), [(0.6, None), (0.7, False), (30, True)])
def test_a_limit_shorter_than_five_operations_take_to_be_offered_is_open(
    most: float, met: bool | None
) -> None:
    slow = fault(blackout=20.0, blackout_resolution_s=1 / 8)
    found = verdict(GOOD, limit("blackout", most), faults=(slow,))
    assert found.slos[0].met is met
    assert ("in which 5 operations are offered" in found.slos[0].detail) is (met is None)


@pytest.mark.parametrize(("most", "met"), [(0.5, None), (0.6, True), (0.3, None)])
@pytest.mark.parametrize("measure", ["partial_outage", "client_recovered_time"])
def test_a_limit_finer_than_what_can_be_seen_is_open(
    measure: str, most: float, met: bool | None
) -> None:
    facts = replace(GOOD, resolutions={(measure, "total"): 0.6, (measure, "write"): 9.0})
    found = verdict(facts, limit(measure, most), faults=(fault(**{measure: 0.0}),))
    assert found.slos[0].met is met
    assert mentions(found.slos[0].detail, f"{most:g} s", "0.6 s") is (met is None)


def test_with_several_faults_the_worst_counts() -> None:
    faults = (fault(), fault(recovery_time=8.0, availability=0.99), fault(recovery_time=5.0))
    found = verdict(GOOD, limit("recovery_time", 6), limit("availability", 0.95), faults=faults)
    assert [each.value for each in found.slos] == [8.0, 0.9]
    never = verdict(GOOD, limit("recovery_time", 6), faults=(fault(), fault(recovery_time=None)))
    assert never.slos[0].met is False


@pytest.mark.parametrize("name", ["rejoined", "redundant"])
def test_a_milestone_that_is_missed_within_its_limit_fails(name: str) -> None:
    found = verdict(faults=(fault(milestones=[reached(name, None, 60.0)]),))
    assert found.word == "fail"
    assert "within 60 s" in found.reasons[0]


def test_that_the_cluster_never_noticed_is_no_promise_broken() -> None:
    assert verdict(faults=(fault(milestones=[reached("changed", None, 6.0)]),)).word == "pass"


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (replace(GOOD, events=(KILL, BACK)), "cluster_whole_at_start"),
        (replace(GOOD, events=(KILL, WHOLE, BACK)), "cluster_whole_at_start"),
        (replace(GOOD, events=(NOT_WHOLE, KILL, BACK)), "cluster_whole_at_start"),
        (replace(GOOD, baseline=baseline_of(delivered=False)), "load_delivered"),
        (replace(GOOD, baseline=baseline_of(drift=False)), "baseline_stable"),
        (replace(GOOD, events=(WHOLE, BACK)), "fault_landed"),
        (replace(GOOD, events=(WHOLE, replace(KILL, effective=None), BACK)), "fault_landed"),
        (replace(GOOD, events=(WHOLE, replace(KILL, error="denied"), BACK)), "fault_landed"),
        (replace(GOOD, events=(WHOLE, replace(KILL, evidence={"already": True}), BACK)),
         "fault_landed"),
        (replace(GOOD, events=(WHOLE, KILL, Event(9, "note", "failure", fields={"reason": "x"}))),
         "method_completed"),
        (replace(GOOD, events=(WHOLE, KILL)), "method_completed"),
        (replace(GOOD, generator_ended=False), "generator_finished"),
        (replace(GOOD, lag_p99_ms=1000.1), "generator_not_starved"),
        (replace(GOOD, lag_p99_ms=300.1, deadline_s=0.3), "generator_not_starved"),
        (replace(GOOD, lag_p99_ms=None), "generator_not_starved"),
        (replace(GOOD, missed=501), "generator_not_starved"),
        (replace(GOOD, settings=replace(MeasureSettings.lab(), baseline_s=0.5)), "baseline_stable"),
        (replace(GOOD, offered=0), "generator_not_starved"),
        (replace(GOOD, violations=1), "identities_exact"),
        (replace(GOOD, ledger=UNKNOWN), "ledger_known"),
        (replace(GOOD, events=(WHOLE, KILL, BACK, unmet_probe(answered=False))),
         "hypothesis_asked"),
        (replace(GOOD, events=(WHOLE, KILL, BACK, unmet_probe(when="before"))),
         "hypothesis_asked"),
        (replace(GOOD, events=(WHOLE, KILL, BACK, unmet_probe(by_limits=True))),
         "hypothesis_asked"),
    ],
)  # fmt: skip
def test_a_run_that_cannot_be_judged_is_inconclusive_and_says_why(facts: Facts, name: str) -> None:
    found = verdict(facts, limit("recovery_time", 10))
    assert (found.word, unmet(found)) == ("inconclusive", [name])
    assert found.reasons[0].startswith(f"{name}: ")


@pytest.mark.parametrize("when", ["during", "after"])
def test_a_probe_of_the_hypothesis_that_is_not_met_fails_a_run_whose_limits_are(when: str) -> None:
    events = (WHOLE, KILL, BACK, unmet_probe(when=when))
    found = verdict(replace(GOOD, events=events), limit("recovery_time", 10))
    assert (found.word, unmet(found)) == ("fail", [])
    assert [mentions(reason, "error-rate") for reason in found.reasons] == [True]


def test_a_probe_of_limits_adds_nothing_to_the_limit_that_is_broken() -> None:
    events = (WHOLE, KILL, BACK, unmet_probe(by_limits=True))
    found = verdict(replace(GOOD, events=events), limit("recovery_time", 1))
    assert (found.word, unmet(found), len(found.reasons)) == ("fail", [], 1)


def test_an_unmet_probe_says_nothing_of_a_fault_that_was_not_made() -> None:
    events = (WHOLE, replace(KILL, error="denied"), BACK, unmet_probe())
    found = verdict(replace(GOOD, events=events), limit("recovery_time", 10))
    assert found.word == "inconclusive"


def test_a_limit_of_lag_and_missed_is_just_met() -> None:
    assert verdict(replace(GOOD, lag_p99_ms=1000.0, missed=500)).word == "pass"


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(GOOD, lag_p99_ms=49.9, missed=9), False),
        (replace(GOOD, lag_p99_ms=50.0), True),
        (replace(GOOD, missed=10), True),
    ],
)
def test_a_pass_says_that_its_generator_was_starved(facts: Facts, said: bool) -> None:
    found = verdict(facts)
    assert (found.word, found.reasons) == ("pass", ())
    assert bool(found.remarks) is said


@pytest.mark.parametrize(
    ("ledger", "word"), [(LOST, "fail"), (UNKNOWN, "inconclusive"), (CLEAN, "inconclusive")]
)
def test_a_starved_generator_is_named_first_whatever_the_verdict(ledger: Ledger, word: str) -> None:
    facts = replace(GOOD, missed=900, ledger=ledger, baseline=baseline_of(length=False))
    found = verdict(facts)
    assert found.word == word
    first = (*found.remarks, *found.reasons)[0]
    assert "missed 9.00% of" in first


def test_a_baseline_of_ten_seconds_is_long_enough() -> None:
    settings = replace(MeasureSettings.lab(), baseline_s=10.0)
    assert verdict(replace(GOOD, settings=settings)).word == "pass"


@pytest.mark.parametrize(("open_loop", "word"), [(True, "pass"), (False, "inconclusive")])
def test_in_open_loop_an_unsteady_throughput_spares_what_is_not_made_of_it(
    open_loop: bool, word: str
) -> None:
    unsteady = replace(baseline_of(drift=False), open_loop=open_loop)
    facts = replace(GOOD, baseline=unsteady)
    assert verdict(facts, limit("recovery_time", 10)).word == word
    unknown = verdict(facts, limit("tps_drop", 0.5), faults=(fault(tps_drop=None),))
    assert unknown.word == "inconclusive"
    assert "throughput was not steady before the fault (drift: " in unknown.slos[0].detail


def test_without_a_verified_stream_lost_writes_cannot_be_judged() -> None:
    facts = replace(GOOD, ledger=NONE)
    assert verdict(facts).word == "pass"
    assert verdict(facts, limit("lost_writes", 0)).word == "inconclusive"


@pytest.mark.parametrize(
    ("value", "word", "detail"),
    [(6, "pass", ""), (5, "inconclusive", "2 writes are in doubt"), (3, "fail", "")],
)
def test_a_limit_on_writes_in_doubt_is_open_between_what_is_known_and_what_may_be(
    value: float, word: str, detail: str
) -> None:
    doubtful = replace(CLEAN, in_doubt=9, in_doubt_applied=4, in_doubt_absent=3)
    found = verdict(replace(GOOD, ledger=doubtful), limit("in_doubt_applied", value))
    assert (found.word, found.slos[0].detail) == (word, detail)
    assert (found.slos[0].value, found.slos[0].best, found.slos[0].worst) == (4, 4, 6)


@pytest.mark.parametrize(
    ("ledger", "detail"),
    [(NONE, NONE.detail), (UNKNOWN, UNKNOWN.detail), (CLEAN, "the generator did not tell")],
)
def test_a_limit_on_writes_in_doubt_says_why_nothing_is_known(ledger: Ledger, detail: str) -> None:
    found = verdict(replace(GOOD, ledger=ledger), limit("in_doubt_absent", 10))
    assert (found.word, found.slos[0].value) == ("inconclusive", None)
    assert found.slos[0].detail == detail


def test_without_a_fault_no_limit_can_be_judged() -> None:
    found = verdict(replace(GOOD, events=(WHOLE, BACK)), limit("recovery_time", 10), faults=())
    assert unmet(found) == ["fault_landed", "slos_evaluated"]


def test_lost_writes_fail_whatever_else_is_wrong() -> None:
    worst = replace(
        GOOD, events=(ABORT, BACK), baseline=baseline_of(drift=False, delivered=False), ledger=LOST,
        generator_ended=False, lag_p99_ms=None, violations=7,
    )  # fmt: skip
    found = verdict(worst, limit("tps_drop", 0.01), faults=())
    assert (found.word, found.reasons) == (
        "fail",
        ("lost_writes: " + LOST.detail, "aborted: Ctrl-C"),
    )


def test_answers_that_failed_their_checksum_fail_though_every_key_is_intact_again() -> None:
    found = verdict(replace(GOOD, ledger=replace(CLEAN, garbled_answers=7)))
    assert found.word == "fail"
    assert found.reasons[0].startswith("integrity: 7 answers failed their checksum")


def test_copies_that_differ_fail_with_a_limit_or_without_one() -> None:
    alike = Copies(servers=("a:1", "b:1"), keys=9, compared=9)
    for limits in ((), (limit("diverged_copies", 0),)):
        good = verdict(replace(GOOD, ledger=replace(CLEAN, copies=alike)), *limits)
        assert good.word == "pass"
        differing = replace(alike, diverged=2)
        found = verdict(replace(GOOD, ledger=replace(CLEAN, copies=differing)), *limits)
        assert found.word == "fail"
        assert found.reasons[0].startswith("diverged_copies: the copies of 2 of 9 keys on 2")


def test_reads_against_their_guarantee_fail_with_a_limit_or_without_one() -> None:
    lane = LaneReads("orders", "a:1", "eventual", checked=900, stale=7, dirty=1, stale_s=1.5)
    for limits in ((), (limit("stale_reads", 0), limit("dirty_reads", 0))):
        allowed = replace(CLEAN, reads=Reads((lane,)))
        assert verdict(replace(GOOD, ledger=allowed), *limits).word == "pass"
        strict = Reads((replace(lane, guarantee="linearizable"),))
        judged = verdict(replace(GOOD, ledger=replace(CLEAN, reads=strict)), *limits)
        assert judged.word == "fail"
        assert judged.reasons[0].startswith("stale_reads: 7 stale and 1 dirty of 900 reads")
    none = replace(GOOD, ledger=replace(CLEAN, reads=Reads()))
    assert verdict(none, limit("stale_reads", 0)).word == "inconclusive"


def test_registers_that_are_not_linearizable_fail_with_a_limit_or_without_one() -> None:
    clean = Histories(streams=("orders",), registers=60, operations=900)
    for limits in ((), (limit("nonlinearizable_registers", 0),)):
        good = verdict(replace(GOOD, ledger=replace(CLEAN, histories=clean)), *limits)
        assert good.word == "pass"
        broken = replace(clean, nonlinearizable=2, unknown=1, why="no time")
        found = verdict(replace(GOOD, ledger=replace(CLEAN, histories=broken)), *limits)
        assert found.word == "fail"
        assert found.reasons[0].startswith("nonlinearizable_registers: 2 of 60 registers of orders")


def test_a_register_of_which_nothing_is_known_is_not_a_pass_with_a_limit_or_without_one() -> None:
    unknown = Histories(streams=("orders",), registers=60, unknown=3, why="no time")
    facts = replace(GOOD, ledger=replace(CLEAN, histories=unknown))
    for limits in ((), (limit("nonlinearizable_registers", 0),)):
        found = verdict(facts, *limits)
        assert found.word == "inconclusive"
        assert any("of 3 it is not known: no time" in reason for reason in found.reasons)
    loose = verdict(facts, limit("nonlinearizable_registers", 5))
    assert [each.met for each in loose.slos if each.name == "nonlinearizable_registers"] == [True]
    unchecked = verdict(replace(GOOD, ledger=CLEAN), limit("nonlinearizable_registers", 0))
    assert unchecked.word == "inconclusive"


def test_reads_that_could_not_be_decided_leave_their_limit_open() -> None:
    lane = LaneReads("orders", "a:1", "session", checked=900, undecided=2)
    facts = replace(GOOD, ledger=replace(CLEAN, reads=Reads((lane,))))
    assert verdict(facts).word == "pass"
    found = verdict(facts, limit("dirty_reads", 0))
    assert found.word == "inconclusive"
    assert any("2 reads are in doubt" in reason for reason in found.reasons)


def test_copies_that_were_not_all_told_leave_their_limit_open_and_fail_nothing_without_one() -> (
    None
):
    silent = Copies(servers=("a:1", "b:1"), keys=9, unread=9, error="b:1: no answer")
    facts = replace(GOOD, ledger=replace(CLEAN, copies=silent))
    assert verdict(facts).word == "pass"
    assert verdict(facts, limit("diverged_copies", 0)).word == "inconclusive"


def held(*, ok: bool, **more: Any) -> Event:
    fields = {"ok": ok, "hold_s": 5.0, **more}
    return Event(9, "check", "load_held", requested=70.0, fields=fields)


@pytest.mark.parametrize(
    ("event", "word"),
    [
        (held(ok=True), "pass"),
        (held(ok=False, waited_s=60.0, failed=4, ours=False), "fail"),
        (held(ok=False, waited_s=60.0, failed=4, ours=True), "inconclusive"),
    ],
)
def test_a_load_that_does_not_hold_after_the_fault_is_the_verdicts_business(
    event: Event, word: str
) -> None:
    found = verdict(replace(GOOD, events=(*GOOD.events, event)))
    assert found.word == word
    (condition,) = [each for each in found.validity if each.name == "load_held"]
    assert condition.ok is (word == "pass")
    assert (word == "pass") or "4 operations of the last 5 s" in found.reasons[0]


def test_corrupt_keys_fail_too() -> None:
    corrupt = Ledger("lost", "2 of 9 keys cannot be read intact", keys=9, corrupt=2)
    assert verdict(replace(GOOD, ledger=corrupt)).word == "fail"


@pytest.mark.parametrize(
    "facts",
    [
        replace(GOOD, events=(WHOLE, KILL, ABORT, BACK)),
        replace(GOOD, events=(WHOLE, ABORT, BACK)),
        replace(
            GOOD, events=(WHOLE, ABORT, BACK), baseline=baseline_of(length=False, delivered=False)
        ),
        replace(GOOD, events=(WHOLE, KILL, ABORT, BACK), ledger=UNKNOWN),
    ],
    ids=["after the fault", "before the fault", "before the baseline", "before the read-back"],
)
def test_what_an_abort_cut_short_is_not_held_against_the_run(facts: Facts) -> None:
    faults = (fault(),) if KILL in facts.events else ()
    found = verdict(facts, limit("recovery_time", 10), faults=faults)
    assert (found.word, found.reasons) == ("aborted", ("aborted: Ctrl-C",))


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        (replace(GOOD, violations=1), "inconclusive"),
        (replace(GOOD, generator_ended=False), "inconclusive"),
        (replace(GOOD, baseline=baseline_of(drift=False)), "inconclusive"),
        (replace(GOOD, ledger=LOST), "fail"),
    ],
)
def test_an_abort_comes_after_all_else_that_is_wrong_and_is_always_told(
    facts: Facts, word: str
) -> None:
    found = verdict(replace(facts, events=(WHOLE, KILL, ABORT, BACK)))
    assert (found.word, found.reasons[-1]) == (word, "aborted: Ctrl-C")


@pytest.mark.parametrize(("until", "word"), [(25.0, "aborted"), (30.2, "aborted"), (30.4, "fail")])
def test_an_abort_before_the_limit_does_not_break_it(until: float, word: str) -> None:
    facts = replace(GOOD, events=(WHOLE, KILL, ABORT, BACK))
    cut = fault(recovery_time=None, until=until)
    assert verdict(facts, limit("recovery_time", 10), faults=(cut,)).word == word


@pytest.mark.parametrize(("until", "word"), [(20.7, "inconclusive"), (36.0, "fail")])
@pytest.mark.parametrize(
    "facts",
    [replace(GOOD, generator_ended=False), replace(GOOD, events=(WHOLE, KILL))],
    ids=["the load was lost", "the run died"],
)
def test_what_died_before_the_limit_has_not_shown_that_it_is_broken(
    facts: Facts, until: float, word: str
) -> None:
    cut = fault(recovery_time=None, until=until)
    found = verdict(facts, limit("recovery_time", 10), faults=(cut,))
    assert found.word == word
    if word == "inconclusive":
        assert found.slos[0].met is None
        assert mentions(found.slos[0].detail, "0.4 s")


def test_reasons_are_sentences_with_value_and_limit() -> None:
    found = verdict(
        GOOD, limit("recovery_time", 2), limit("availability", 0.999), limit("errors", 1),
        limit("latency.during.p99_us", 1500), limit("recovery_time", 3.5, "write"),
    )  # fmt: skip
    assert found.reasons == (
        "recovery_time: 3 s; at most 2 s wanted (test)",
        "availability: 90 %; at least 99.9 % wanted (test)",
        "errors: 7 operations; at most 1 operations wanted (test)",
        "latency.during.p99_us: 5 ms; at most 1.5 ms wanted (test)",
        "recovery_time (write): 4 s; at most 3.5 s wanted (test)",
    )


@pytest.mark.parametrize(
    "facts",
    [
        replace(GOOD, baseline=baseline_of(drift=False)),
        replace(GOOD, baseline=baseline_of(delivered=False)),
        replace(GOOD, events=(WHOLE, KILL, replace(KILL, id=9, error="refused"), BACK)),
    ],
    ids=["the baseline was unstable", "the load was not delivered", "a break failed"],
)
def test_a_broken_limit_is_only_a_remark_where_the_fault_is_not_what_was_measured(
    facts: Facts,
) -> None:
    slow = fault(recovery_time=30.0, milestones=[reached("redundant", None, 60.0)])
    found = verdict(facts, limit("recovery_time", 10), faults=(slow,))
    assert found.word == "inconclusive"
    assert [remark for remark in found.remarks if "30 s" in remark and "not counted" in remark]
    assert len(found.remarks) == 2


def test_lost_writes_are_a_fail_even_without_a_stable_baseline() -> None:
    facts = replace(GOOD, baseline=baseline_of(drift=False), ledger=LOST)
    assert verdict(facts, limit("recovery_time", 10)).word == "fail"


SCRIPT = Event(
    9, "step", "restart-nodes", requested=30.0, ended=50.0,
    arguments={"by": "process ./restart.sh", "kind": "action"},
)  # fmt: skip


def test_a_dip_during_a_step_of_others_that_is_not_declared_is_not_booked_to_the_fault() -> None:
    facts = replace(GOOD, events=(WHOLE, KILL, SCRIPT, BACK))
    hurt = fault(recovery_time=30.0, dips=[[21.0, 22.0], [36.0, 40.0]])
    found = verdict(facts, limit("recovery_time", 10), faults=(hurt,))
    assert found.word == "inconclusive"
    assert "`restart-nodes` (process ./restart.sh)" in found.reasons[0]
    calm = fault(recovery_time=3.0, dips=[[21.0, 22.0]])
    assert verdict(facts, limit("recovery_time", 10), faults=(calm,)).word == "pass"


def test_a_step_of_others_is_named_where_nothing_was_broken() -> None:
    facts = replace(GOOD, events=(WHOLE, SCRIPT, BACK))
    found = verdict(facts, limit("recovery_time", 10), faults=())
    assert "if `restart-nodes` (process ./restart.sh) breaks something" in found.reasons[0]


@given(
    st.sampled_from([CLEAN, LOST, UNKNOWN, NONE]),
    st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.none() | st.floats(0, 20),
)  # fmt: skip
def test_the_order_holds_for_every_combination(
    ledger: Ledger, ended: bool, steady: bool, landed: bool, aborted: bool, missed: bool,
    recovery: float | None,
) -> None:  # fmt: skip
    events = (WHOLE, *((KILL,) if landed else ()), *((ABORT,) if aborted else ()), BACK)
    facts = replace(
        GOOD,
        events=events,
        ledger=ledger,
        generator_ended=ended,
        baseline=baseline_of(drift=steady),
    )
    milestones = [reached("redundant", None, 60.0)] if missed else []
    faults = (fault(recovery_time=recovery, milestones=milestones),) if landed else ()
    found = verdict(facts, limit("recovery_time", 10), faults=faults)
    late = landed and (recovery is None or recovery > 10)
    if ledger.state == "lost" or (steady and ((landed and missed) or late)):
        assert found.word == "fail"
    elif not ended or (not aborted and (not landed or ledger is UNKNOWN or not steady)):
        assert found.word == "inconclusive"
    elif aborted:
        assert found.word in ("aborted", "inconclusive")
    else:
        assert found.word == "pass"
    assert bool(found.reasons) == (found.word != "pass")
