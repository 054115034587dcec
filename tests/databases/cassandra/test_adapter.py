"""How long a node that was away is not taken for redundant, whoever looked meanwhile."""

import re

import pytest
from tests.databases.cassandra.test_milestones import gone, views

from brownout.databases.cassandra.adapter import CassandraAdapter
from brownout.databases.cassandra.view import View
from brownout.inventory.model import Cluster

NOBODY = {
    "name": "shop",
    "database": "cassandra",
    "environment": "test",
    "nodes": [{"name": f"n{at}", "address": f"127.0.0.{at}:1"} for at in (1, 2, 3)],
}


def test_a_node_that_was_away_at_the_look_before_may_lack_what_is_not_known_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: list[list[View]] = [views(), [gone("n1"), *views()[1:]], views(), views()]
    with CassandraAdapter(Cluster.model_validate(NOBODY)) as adapter:
        monkeypatch.setattr(adapter, "_polled", lambda: answers.pop(0))
        assert adapter.stable("redundant").reached
        adapter.signature()  # a run asks for no milestone before it has put a node back
        for _ in range(2):
            (missing,) = adapter.stable("redundant").detail["missing"]
            assert re.search(r"^n1 .* in 1\d? s$", missing), missing
