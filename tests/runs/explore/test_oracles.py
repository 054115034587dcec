"""What breaks the promise: absolute, and nothing that could be noise."""

from typing import Any

import pytest
from tests.impacts import made

from brownout.runs.explore.oracles import ORACLES, is_judged, violations, words_of
from brownout.session.experiment_process import Outcome

CLEAN: dict[str, Any] = {"faults": [{}]}
LOST = {"state": "lost", "lost": 12}
LANE = {
    "stream": "orders",
    "lane": "",
    "guarantee": "linearizable",
    "asked": "primary",
    "checked": 9,
}
NEVER_REDUNDANT = {"name": "redundant", "last_no": 50.0, "first_yes": None, "limit_s": 90.0}


def broken(document: dict[str, Any], unmended: str | None = None) -> dict[str, str]:
    outcome = Outcome(None, made(document), unmended)
    return {each.oracle: each.words for each in violations(outcome)}


def test_a_run_that_kept_everything_breaks_nothing_however_slow_it_was() -> None:
    assert broken({"faults": [{"blackout": 55.0, "degraded_time": 60.0}]}) == {}


@pytest.mark.parametrize(
    ("oracle", "document"),
    [
        ("lost_writes", {**CLEAN, "ledger": LOST}),
        ("stale_reads", {**CLEAN, "ledger": {"reads": {"lanes": [{**LANE, "stale": 2}]}}}),
        ("dirty_reads", {**CLEAN, "ledger": {"reads": {"lanes": [{**LANE, "dirty": 2}]}}}),
        ("nonlinearizable_registers", {**CLEAN, "ledger": {"histories": {"nonlinearizable": 2}}}),
        ("garbled_answers", {**CLEAN, "ledger": {"garbled_answers": 3}}),
        ("never_redundant", {"faults": [{"milestones": [NEVER_REDUNDANT]}]}),
    ],
)
def test_each_of_them_is_seen_alone(oracle: str, document: dict[str, Any]) -> None:
    assert list(broken(document)) == [oracle]


REACHED = {"name": "redundant", "last_no": 54.9, "first_yes": 55.2}
REVOKED = {"name": "redundant", "last_no": 33.4, "first_yes": None, "revoked": True}


def test_redundancy_that_was_lost_in_between_is_not_lost_for_good() -> None:
    again = {"redundancy_time": [30.2, 30.5], "milestones": [REVOKED, REACHED]}
    assert broken({"faults": [again]}) == {}
    gone = {"redundancy_time": None, "milestones": [REACHED, REVOKED]}
    assert list(broken({"faults": [gone]})) == ["never_redundant"]
    late = {"redundancy_time": [90.0, 91.0], "milestones": [NEVER_REDUNDANT, REACHED]}
    assert list(broken({"faults": [late]})) == ["never_redundant"]


def test_a_stale_read_that_its_guarantee_allows_breaks_nothing() -> None:
    lanes = [{**LANE, "guarantee": "eventual", "stale": 2}]
    assert broken({**CLEAN, "ledger": {"reads": {"lanes": lanes}}}) == {}


def test_a_figure_is_in_the_words() -> None:
    assert broken({**CLEAN, "ledger": LOST})["lost_writes"] == "12 acknowledged writes lost"


def test_a_loss_counts_though_the_run_is_inconclusive() -> None:
    assert "lost_writes" in broken({**CLEAN, "verdict": "inconclusive", "ledger": LOST})


def test_an_aborted_run_says_nothing_of_what_it_did_not_wait_for() -> None:
    aborted = {"verdict": "aborted", "faults": [{"milestones": [NEVER_REDUNDANT]}]}
    assert broken(aborted) == {}


def test_an_undo_that_failed_is_one_also_where_no_run_was_opened() -> None:
    assert broken(CLEAN, "n1 is still frozen") == {"undo_failed": "n1 is still frozen"}
    assert [v.oracle for v in violations(Outcome(None, None, "broken"))] == ["undo_failed"]
    assert violations(Outcome(None, None, None)) == []


def test_a_run_whose_ledger_was_not_read_back_is_not_judged() -> None:
    assert is_judged(Outcome(None, made(CLEAN), None))
    assert not is_judged(Outcome(None, made({**CLEAN, "ledger": {"state": "unknown"}}), None))
    assert not is_judged(Outcome(None, None, None))


def test_each_has_words_for_people() -> None:
    assert all(map(words_of, ORACLES))
