"""The shares' records of one exploration as one: each run once, each finding once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runs.explore.world import LAB
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.runs.explore.gather import gathered
from brownout.runs.explore.record import Finding, Record, Request, Try
from brownout.runs.explore.schedule import Schedule, Step

KILL = Step("kill_node", "primary", lasts_s=4)
PAUSE = Step("pause_node", "secondary", lasts_s=4)
STOP = Step("stop_node", "primary", lasts_s=4)


def attempt(number: int, steps: tuple[Step, ...] = (KILL, PAUSE), **fields: Any) -> Try:
    document = tuple(Schedule(steps).document())
    moments = tuple(step.when for step in steps)
    given: dict[str, Any] = {
        "purpose": "search",
        "attempt": 1,
        "verdict": "pass",
        "run": f"../r{number}",
    }
    return Try(number=number, schedule=document, took_s=30, moments=moments, **given | fields)


def finding(
    number: int, *steps: Step, shrunk: bool = True, oracle: str = "lost_writes", **fields: Any
) -> Finding:
    document = Schedule(steps).document()
    variants = [document] if shrunk else []
    name = f"findings/mongodb-lost-writes-{number}.json"
    return Finding(
        number, oracle, "3 are lost", document, document, f"../r{number}", variants=variants,
        experiment=name, **fields,
    )  # fmt: skip


def share(
    number: int, tries: list[Try], findings: tuple[Finding, ...] = (), **fields: Any
) -> Record:
    request = Request(LAB, 5, share=number - 1, shares=4)
    space = {"faults": {"kill_node": {}}, "left_out": {"clock": f"on host {number}"}}
    given: dict[str, Any] = {"ended": f"2026-11-28T14:0{number}", "server": "mongod 6.0.5",
             "database": "mongodb", "space": space}  # fmt: skip
    return Record(
        Path(f"/x/{number}-of-4"), request, f"2026-11-28T13:0{number}", 600.0,
        tries=tries, findings=list(findings), **given | fields,
    )  # fmt: skip


def whole(*records: Record) -> Record:
    return gathered(records, Path("/x/gathered"))


def test_every_run_and_all_coverage_is_counted_once() -> None:
    first, second = share(1, [attempt(1), attempt(5)]), share(2, [attempt(2)])
    record = whole(first, replace(first, tries=[*first.tries, *first.tries]), second)
    assert [each.number for each in record.tries] == [1, 2, 5]
    assert sorted(record.cells) == sorted([*first.cells, *second.cells])
    assert record.spent_s == 90


def test_runs_of_one_schedule_for_different_purposes_all_count() -> None:
    tries = [
        attempt(1), attempt(1, purpose="repeat"), attempt(1, purpose="repeat", attempt=2),
        attempt(1, purpose="shrink"), attempt(1, (KILL,), purpose="shrink"),
    ]  # fmt: skip
    assert whole(share(1, tries)).tries == tries


def test_findings_with_the_same_shortest_are_one() -> None:
    longer = replace(PAUSE, lasts_s=1)
    record = whole(
        share(1, [], (finding(5, KILL, longer, seen_again=[9]),)),
        share(2, [], (finding(2, KILL, PAUSE), finding(6, STOP, PAUSE))),
        share(3, [], (finding(3, KILL, PAUSE, oracle="diverged_copies"),)),
    )
    assert [(each.number, each.oracle) for each in record.findings] == [
        (2, "lost_writes"), (3, "diverged_copies"), (6, "lost_writes")
    ]  # fmt: skip
    assert record.findings[0].seen_again == [5, 9]
    assert len(record.findings[0].variants) == 2


def test_a_finding_that_was_not_shrunk_belongs_to_one_that_it_contains() -> None:
    record = whole(
        share(1, [], (finding(1, KILL, STOP, PAUSE, shrunk=False, open="the time was up"),)),
        share(2, [], (finding(2, KILL, PAUSE),)),
        share(3, [], (finding(3, STOP, KILL, shrunk=False),)),
    )
    assert [each.number for each in record.findings] == [2, 3]
    assert record.findings[0].seen_again == [1]


def test_the_shares_themselves_are_left_as_they_are() -> None:
    one, other = share(1, [], (finding(1, KILL, PAUSE),)), share(2, [], (finding(2, KILL, PAUSE),))
    whole(one, other)
    assert one.findings == [finding(1, KILL, PAUSE)]


def test_it_says_which_shares_are_missing_and_which_are_not_over() -> None:
    record = whole(share(1, [attempt(1)]), share(3, [], ended=""))
    assert (record.gathered, record.missing, record.unfinished) == ([1, 3], [2, 4], [3])
    assert record.is_incomplete
    assert not record.ended
    all_of_it = whole(*(share(number, []) for number in range(1, 5)))
    assert not all_of_it.is_incomplete
    assert (all_of_it.began, all_of_it.ended) == ("2026-11-28T13:01", "2026-11-28T14:04")


def test_each_share_may_have_a_test_cluster_of_its_own() -> None:
    other = Request("shop-2", 5, share=1, shares=4, settings={"confirm": "shop-2"})
    record = whole(share(1, []), replace(share(2, []), request=other))
    assert record.request.cluster == f"{LAB}, shop-2"


def test_a_share_that_has_not_asked_its_cluster_yet_has_nothing_to_differ_in() -> None:
    assert whole(share(1, [], server="", space={}), share(2, [])).server == "mongod 6.0.5"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"request": Request(LAB, 6, share=1, shares=4)}, ["`seed`", "6", "5"]),
        ({"request": Request(LAB, 5, repeats=3, share=1, shares=4)}, ["`repeats`"]),
        ({"request": Request(LAB, 5, share=1, shares=8)}, ["`shares`", "8"]),
        ({"server": "mongod 7.0.1"}, ["`server`", "mongod 7.0.1", "mongod 6.0.5"]),
        ({"space": {"faults": {"stop_node": {}}}}, ["`faults`", "stop_node"]),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_error(
    change: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        whole(share(1, []), replace(share(2, []), **change), replace(share(3, []), **change))
    assert mentions(str(refused.value), "/x/2-of-4", "/x/3-of-4", "/x/1-of-4", *words)
