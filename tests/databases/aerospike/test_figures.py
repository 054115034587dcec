"""Figures from the nodes' own words; a node that does not say is never a zero."""

from typing import Any

import pytest

from brownout.databases.aerospike import figures
from brownout.databases.aerospike.view import View

SILENT = View("n9", "127.0.0.1:9", error="`127.0.0.1:9` does not answer")


def view(node: str, key: str = "ABC", migrate: str = "0", **numbers: str) -> View:
    statistics = f"cluster_key={key};migrate_partitions_remaining={migrate}"
    told = ";".join(f"{name}={value}" for name, value in numbers.items())
    return View(node, "", {"statistics": statistics, "namespace/test": told})


ORPHAN = view("n8", key="0")


def test_what_migrates_is_summed_over_all_nodes() -> None:
    figure = figures.migrations_remaining([view("n1", migrate="7"), view("n2", migrate="3")])
    assert (figure["value"], figure["status"]) == (10, "measured")
    assert figure["nodes"] == {"n1": 7, "n2": 3}


@pytest.mark.parametrize(("other", "why"), [(SILENT, "does not answer"), (ORPHAN, "orphan")])
@pytest.mark.parametrize("name", ["migrations_remaining", "cluster_key", "partitions_unavailable"])
def test_a_node_that_cannot_tell_makes_it_no_data(name: str, other: View, why: str) -> None:
    figure = getattr(figures, name)([view("n1", unavailable_partitions="0"), other])
    assert (figure["value"], figure["status"]) == (None, "no_data")
    assert any(why in words for words in figure["missing"])


def test_no_nodes_at_all_are_no_data() -> None:
    assert figures.migrations_remaining([])["status"] == "no_data"


def test_a_number_that_is_not_there_is_no_data() -> None:
    assert figures.partitions_unavailable([view("n1")])["status"] == "no_data"


def test_one_cluster_has_one_key() -> None:
    assert figures.cluster_key([view("n1"), view("n2")])["value"] == "ABC"
    assert figures.cluster_key([view("n1"), view("n2", key="DEF")])["value"] is None


def test_unavailable_and_dead_partitions_count_once_though_every_node_counts_them() -> None:
    lacking = {"unavailable_partitions": "4", "dead_partitions": "2"}
    whole = {"unavailable_partitions": "0", "dead_partitions": "0"}
    found = figures.partitions_unavailable([view("n1", **lacking), view("n2", **whole)])
    assert found["value"] == 6


def test_records_count_where_they_are_master_and_say_whether_anything_migrates() -> None:
    still = [view("n1", master_objects="60"), view("n2", master_objects="40")]
    moving = [*still, view("n3", migrate="1", master_objects="0")]
    assert figures.records(still, ["test"]) | {"nodes": {}} == {
        "value": 100, "status": "measured", "nodes": {}, "migrating": False,
    }  # fmt: skip
    assert figures.records(moving, ["test"])["migrating"]


LATENCIES = (
    "batch-index:;{test}-read:msec,841.6,0.68,0.10;{test}-write:msec,12.0,0.00;{test}-udf:;"
    "{test}-pi-query:"
)


def test_throughput_is_what_all_histograms_that_were_used_tell() -> None:
    assert figures.throughput(LATENCIES) == {"{test}-read": 841.6, "{test}-write": 12.0}
    found = figures.tps(View("n1", "", {"latencies:": LATENCIES}))
    assert (found["value"], found["status"]) == (853.6, "measured")


@pytest.mark.parametrize(
    "asked",
    [
        SILENT,
        View("n1", "", {"latencies:": "batch-index:;{test}-read:;{test}-write:"}),
        View("n1", "", {"latencies:": ""}),
    ],
)
def test_a_node_that_tells_no_throughput_is_not_idle(asked: View) -> None:
    found: dict[str, Any] = figures.tps(asked)
    assert (found["value"], found["status"]) == (None, "no_data")
