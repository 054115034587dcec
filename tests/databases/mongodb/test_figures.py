"""Figures of a replica set: what members say is added up, and what one does not say is no zero."""

from typing import Any

from brownout.databases.adapter import Member
from brownout.databases.mongodb import figures


def member(name: str, role: str, lag_s: float | None = 0.0, **detail: Any) -> Member:
    state = {"primary": "PRIMARY", "secondary": "SECONDARY"}.get(role, "unreachable")
    detail = {"set": "rs", **detail} if detail else {}
    return Member(name, f"{name}:27017", role, state, role != "unknown", lag_s, detail)


SET = (
    member("n1", "primary", 0.0, term=4),
    member("n2", "secondary", 0.3, term=4),
    member("n3", "secondary", 1.2, term=4),
)
SILENT = member("n3", "unknown", None)


def test_a_whole_set_has_one_primary_no_election_and_the_lag_of_its_last_member() -> None:
    assert figures.primaries(SET) == {"value": 1, "status": "measured", "nodes": {"n1": 4}}
    assert figures.elections(SET, {"rs": 4})["value"] == 0
    assert figures.replication_lag(SET)["value"] == 1.2
    assert figures.replication_lag(SET, "n2")["value"] == 0.3
    assert figures.members(SET)["value"] == 3
    assert figures.members(SET)["nodes"]["n1"]["role"] == "primary"


def test_two_primaries_are_two_and_the_newest_term_counts_the_elections() -> None:
    split = (member("n1", "primary", term=4), member("n2", "primary", term=6), SET[2])
    assert figures.primaries(split)["value"] == 2
    assert figures.primaries(split)["nodes"] == {"n1": 4, "n2": 6}
    assert figures.elections(split, {"rs": 4})["value"] == 2


def test_a_silent_member_may_be_primary_and_has_no_lag_but_the_others_know_the_term() -> None:
    found = (*SET[:2], SILENT)
    assert figures.primaries(found)["status"] == "no_data"
    assert figures.primaries(found)["missing"] == ["n3 is unreachable"]
    assert figures.replication_lag(found)["value"] is None
    assert figures.replication_lag(found, "n2")["value"] == 0.3
    assert figures.elections(found, {"rs": 3})["value"] == 1
    assert figures.members(found)["value"] == 2


def test_the_terms_of_several_sets_are_told_apart() -> None:
    found = (*SET, member("m1", "primary", term=9, set="other"))
    assert figures.elections(found, {"rs": 4, "other": 7})["value"] == 2
    missing = figures.elections(found, {"rs": 4})["missing"]
    assert missing == ["the term of the set `other` when the run began is not known"]


def test_where_nobody_answers_there_is_no_number() -> None:
    assert figures.elections((SILENT,), {"rs": 4})["status"] == "no_data"
    assert figures.elections((), {})["missing"] == ["no member says its term"]
    assert figures.replication_lag((), "n1")["status"] == "no_data"
