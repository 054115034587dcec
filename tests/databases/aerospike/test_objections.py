"""Why a cluster cannot be resized now: one clear message each."""

import pytest

from brownout.databases.adapter import MilestoneState
from brownout.databases.aerospike import objections
from brownout.databases.aerospike.speed import objections as of_speed
from brownout.databases.aerospike.view import View

MEMBER = View("n1", "", {"statistics": "cluster_key=ABC"})
ORPHAN = View("n6", "", {"statistics": "cluster_key=0"})


def test_a_member_cannot_be_added_and_a_stranger_not_removed() -> None:
    assert objections.of_membership("n1", MEMBER, ["ABC"], wanted=False) == [
        "node `n1`: found it in the cluster already, wanted a node outside it"
    ]
    assert objections.of_membership("n6", ORPHAN, ["ABC"], wanted=True) == [
        "node `n6`: found it orphan, wanted a member of the cluster"
    ]
    assert not objections.of_membership("n1", MEMBER, ["ABC"], wanted=True)
    assert not objections.of_membership("n6", ORPHAN, ["ABC"], wanted=False)
    assert not objections.of_membership("n6", MEMBER, ["DEF"], wanted=False)


def test_a_cluster_that_migrates_is_not_resized() -> None:
    moving = MilestoneState(False, {"missing": ["n1: ERROR:7:unstable cluster (7 partitions …)"]})

    (words,) = objections.unsettled(moving)

    assert "n1: ERROR:7:unstable cluster (7 partitions …)" in words
    assert words.endswith("wanted every node there and nothing left to migrate")
    assert objections.unsettled(MilestoneState(True, {"missing": []})) == []


def test_scale_in_below_the_replication_factor_is_refused() -> None:
    assert objections.of_remaining({"test": 3, "cache": 1}, 2) == [
        "replication factor of `test`: found 3, wanted at most 2: so many nodes would remain"
    ]
    assert objections.of_remaining({"test": 2}, 2) == []


def test_a_node_that_would_start_with_another_factor_is_not_added() -> None:
    text = "namespace test {\nreplication-factor 3\n}\nnamespace cache {\n}\n"

    assert objections.of_other_factor(text, {"test": 3, "cache": 2}) == []
    (words,) = objections.of_other_factor(text, {"test": 2, "cache": 2})
    assert "found 3, wanted 2 as in the cluster" in words


@pytest.mark.parametrize(
    ("value", "strong", "says"),
    [
        (6, False, "found 6, wanted at most 5, the cluster's size"),
        (0, False, "found 0, wanted a number of copies from 1"),
        (True, False, "found True, wanted a number of copies"),
        ("3", False, "found '3', wanted a number of copies"),
        (3, True, "a namespace of strong consistency keeps the one it has"),
    ],
)
def test_a_factor_that_cannot_be_is_refused(value: object, strong: bool, says: str) -> None:
    (words,) = objections.of_factor(value, 5, strong)

    assert says in words


def test_a_namespace_of_strong_consistency_is_known_by_its_own_word() -> None:
    told = {"namespace/a": "strong-consistency=false", "namespace/b": "strong-consistency=true"}

    assert objections.strongly_consistent(View("n1", "", told)) == ["b"]


def test_a_factor_up_to_the_clusters_size_is_taken() -> None:
    assert objections.of_factor(1, 5, strong=False) == objections.of_factor(5, 5, False) == []


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("fast", "found 'fast', wanted some of migrate_threads"),
        ({}, "wanted some of migrate_threads"),
        ({"threads": 2}, "found 'threads', wanted some of migrate_threads"),
        ({"migrate_threads": 0}, "migrate_threads: found 0, wanted a number from 1 to 100"),
        ({"migrate_sleep": -1}, "migrate_sleep: found -1, wanted a number from 0"),
        ({"n1": {"migrate_max_num_incoming": 257}}, "found 257, wanted a number from 1 to 256"),
    ],
)
def test_a_speed_that_cannot_be_is_refused(value: object, says: str) -> None:
    (words,) = of_speed(value)

    assert says in words


def test_a_speed_for_all_or_by_node_is_taken() -> None:
    assert of_speed({"migrate_threads": 4, "migrate_sleep": 0}) == []
    assert of_speed({"n1": {"migrate_threads": 4}, "n2": {"migrate_threads": 1}}) == []


def _copies(node: str, size: str = "5", unavailable: str = "0", **told: str) -> View:
    numbers = {"unavailable_partitions": unavailable, "dead_partitions": "0", **told}
    text = ";".join(f"{name.replace('__', '-')}={value}" for name, value in numbers.items())
    return View(node, "", {"statistics": f"cluster_size={size}", "namespace/test": text})


TWO = {"replication__factor": "2", "effective_replication_factor": "2"}
ONE = {"replication__factor": "1", "effective_replication_factor": "1"}


def test_the_data_of_a_node_is_lost_for_good_where_no_other_has_a_copy() -> None:
    two, one = [_copies("n2", **TWO), _copies("n3", **TWO)], [_copies("n2", **ONE)]

    assert objections.of_loss(two, 5, 1) == []
    assert objections.of_loss(two, 5, 2) == ["namespace `test`: 2 of 3 copies wanted"]
    assert objections.of_loss(one, 5, 1) == ["namespace `test`: 1 of 2 copies wanted"]
    assert objections.of_loss([], 1, 1) == ["no other node has a copy"]


def test_copies_count_that_are_in_effect_and_not_those_that_are_only_asked_for() -> None:
    asked = _copies("n2", replication__factor="2", effective_replication_factor="1")
    # Two nodes, of which one is down: one copy is in effect, and was not before.
    left = _copies("n2", "1", replication__factor="2", effective_replication_factor="1")

    assert objections.of_loss([asked], 5, 1) == ["namespace `test`: 1 of 2 copies wanted"]
    assert objections.of_loss([left], 2, 1) == []


def test_in_doubt_a_node_has_no_copy() -> None:
    silent = View("n3", "", error="no answer")

    assert objections.of_loss([_copies("n2", **TWO), silent], 5, 1) == [
        "n3 does not answer (no answer)"
    ]
    assert objections.of_loss([_copies("n2")], 5, 1) == ["namespace `test`: 0 of 2 copies wanted"]
    assert objections.of_loss([_copies("n2", unavailable="7", **TWO)], 5, 1) == [
        "n2: 7 partitions are unavailable"
    ]
