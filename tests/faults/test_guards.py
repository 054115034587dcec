"""Every guard says no with its reason, and yes where it has none."""

from datetime import UTC, datetime
from typing import Any

import pytest

from brownout.base.errors import Refused
from brownout.faults import guards, registry
from brownout.faults.stop import Stopping
from brownout.inventory.model import Cluster

NOT_WHOLE = ["n3 is RECOVERING"]
MONDAY_NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


def _cluster(**settings: Any) -> Cluster:
    nodes = [{"name": f"n{i}", "address": f"127.0.0.1:{27000 + i}"} for i in (1, 2, 3)]
    given = {"name": "orders", "database": "mongodb", "environment": "test", "nodes": nodes}
    return Cluster.model_validate({**given, **settings})


def _no(found: list[guards.Guard]) -> list[str]:
    return [guard.name for guard in found if not guard.ok]


def test_a_test_cluster_that_loses_nothing_is_not_refused() -> None:
    assert _no(guards.of_cluster(_cluster(), ["kill"], "", MONDAY_NOON)) == []


@pytest.mark.parametrize("token", ["", "ORDERS", "order", "yes", "orders "])
def test_production_wants_exactly_the_clusters_name(token: str) -> None:
    found = guards.of_cluster(_cluster(environment="production"), ["kill"], token, MONDAY_NOON)
    assert _no(found) == ["environment"]


def test_production_with_its_name_is_not_refused() -> None:
    cluster = _cluster(environment="production")
    assert _no(guards.of_cluster(cluster, ["kill"], "orders", MONDAY_NOON)) == []


@pytest.mark.parametrize(
    ("window", "allowed"),
    [
        ("Mon-Fri 09:00-16:30 UTC", True),
        ("Mon 11:00-12:00 UTC", False),
        ("Tue-Sun 00:00-23:59", False),
        ("Sat-Mon 12:00-13:00", True),
        ("Mon 13:00-14:00 Europe/Berlin", True),
    ],
)
def test_a_fault_outside_the_allowed_hours_is_refused(window: str, allowed: bool) -> None:
    cluster = _cluster(guards={"allowed_hours": [window]})
    found = guards.of_cluster(cluster, ["kill"], "", MONDAY_NOON)
    assert _no(found) == ([] if allowed else ["allowed hours"])


def test_an_act_on_the_deny_list_is_refused() -> None:
    cluster = _cluster(guards={"deny_acts": ["pause"]})
    assert _no(guards.of_cluster(cluster, ["pause"], "", MONDAY_NOON)) == ["deny list"]


def test_a_wipe_is_refused_unless_the_inventory_allows_data_loss() -> None:
    assert _no(guards.of_cluster(_cluster(), ["kill", "wipe"], "", MONDAY_NOON)) == ["data loss"]
    allowed = _cluster(allow_data_loss=True)
    assert _no(guards.of_cluster(allowed, ["kill", "wipe"], "", MONDAY_NOON)) == []


def test_a_second_node_is_refused_while_one_is_broken() -> None:
    found = guards.of_break(_cluster(), "n2", "kill", {"n1": "start_node"}, NOT_WHOLE)
    assert _no(found) == ["nodes down", "redundancy"]


def test_more_nodes_may_be_down_where_the_inventory_says_so_but_never_without_redundancy() -> None:
    cluster = _cluster(guards={"max_nodes_down": 2})
    found = guards.of_break(cluster, "n2", "kill", {"n1": "start_node"}, NOT_WHOLE)
    assert _no(found) == ["redundancy"]


def test_the_second_break_of_the_same_node_belongs_to_the_same_fault() -> None:
    found = guards.of_break(_cluster(), "n1", "wipe", {"n1": "start_node"}, [])
    assert _no(found) == []


def test_a_degraded_cluster_is_broken_further_only_where_the_inventory_allows_it() -> None:
    allowed = _cluster(guards={"while_degraded": True})
    assert not guards.of_degraded(_cluster()).ok
    assert guards.of_degraded(allowed).ok


def test_a_break_without_redundancy_is_refused_with_what_is_missing() -> None:
    with pytest.raises(Refused, match="not redundant now: n3 is RECOVERING"):
        guards.refuse(guards.of_break(_cluster(), "n1", "kill", {}, NOT_WHOLE))


def test_a_remedy_of_several_guards_is_given_once() -> None:
    crossed = [
        guards.Guard("address", False, f"n{n} has another host", "correct it") for n in (1, 2)
    ]
    with pytest.raises(Refused) as refused:
        guards.refuse(crossed)
    assert refused.value.hint == "correct it"


def test_a_denied_node_is_refused() -> None:
    cluster = _cluster(guards={"deny_nodes": ["n1"]})
    assert _no(guards.of_break(cluster, "n1", "kill", {}, [])) == ["denied nodes"]


def test_a_running_node_is_not_wiped() -> None:
    assert _no([guards.of_stopped("n1", "running, pid 4711", running=True)]) == ["node is stopped"]


ONLY_COPY = ["namespace `test`: 1 of 2 copies wanted"]


def test_a_wipe_of_the_only_copy_is_refused_though_data_loss_is_allowed() -> None:
    allowed = _cluster(allow_data_loss=True)
    assert _no(guards.of_wipe(allowed, "n1", [], "")) == []
    found = guards.of_wipe(allowed, "n1", ONLY_COPY, "")
    assert _no(found) == ["copies"]
    with pytest.raises(Refused, match=r"loses data: namespace `test`: 1 of 2 .*all_copies"):
        guards.refuse(found)


def test_a_wipe_of_the_only_copy_is_let_through_where_the_inventory_gives_up_all_copies() -> None:
    given_up = _cluster(allow_data_loss="all_copies")
    found = guards.of_wipe(given_up, "n1", ONLY_COPY, "")
    assert _no(found) == []
    assert any("`allow_data_loss: all_copies` accepts that" in guard.detail for guard in found)


@pytest.mark.parametrize("word", ["every", "ALL_COPIES", "all copies"])
def test_any_other_word_for_data_loss_is_an_error_of_the_inventory(word: str) -> None:
    with pytest.raises(ValueError, match="allow_data_loss"):
        _cluster(allow_data_loss=word)


def test_a_kill_of_the_only_copy_is_refused_unless_data_loss_is_allowed() -> None:
    careful, allowed = _cluster(), _cluster(allow_data_loss=True)
    assert _no(guards.of_break(careful, "n1", "kill", {}, [], ONLY_COPY)) == ["copies"]
    assert _no(guards.of_break(allowed, "n1", "kill", {}, [], ONLY_COPY)) == []


def test_a_wipe_is_refused_by_everything_that_is_known_before_its_node_is_stopped() -> None:
    cluster = _cluster(guards={"deny_acts": ["wipe"], "deny_nodes": ["n1"]})
    found = guards.of_wipe(cluster, "n1", ONLY_COPY, "it holds a link")
    assert _no(found) == ["data loss", "deny list", "denied nodes", "copies", "the directory"]


def test_a_refusal_names_every_guard_that_said_no_and_what_to_do() -> None:
    cluster = _cluster(environment="production", guards={"deny_acts": ["kill"]})
    with pytest.raises(Refused) as refused:
        guards.refuse(guards.of_cluster(cluster, ["kill"], "", MONDAY_NOON))
    assert "production" in str(refused.value)
    assert "denies kill" in str(refused.value)
    assert "BROWNOUT_CONFIRM=orders" in str(refused.value)


def test_a_misspelt_window_is_an_error_of_the_inventory() -> None:
    with pytest.raises(ValueError, match="Mon-Fri 09:00-16:30 Europe/Berlin"):
        _cluster(guards={"allowed_hours": ["weekdays 9 to 5"]})


def test_a_denied_node_that_is_not_there_is_an_error_of_the_inventory() -> None:
    with pytest.raises(ValueError, match="n9"):
        _cluster(guards={"deny_nodes": ["n9"]})


def test_whatever_ends_a_process_may_lose_what_only_that_node_has() -> None:
    ending = {each.act for each in registry.faults().values() if isinstance(each, Stopping)}
    assert ending == {"stop", "kill", "oom_kill"}
    assert ending <= guards.MAY_LOSE


def test_a_reboot_of_a_node_that_runs_is_refused() -> None:
    assert _no([guards.of_reboot("n2", {"n1": "start_node"})]) == ["node is down"]
    assert _no([guards.of_reboot("n1", {"n1": "start_node"})]) == []
