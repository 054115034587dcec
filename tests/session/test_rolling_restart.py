"""Nodes are restarted in turn, each only while the cluster can do without it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from brownout.base.errors import ClusterError
from brownout.session.rolling_restart import restart_each
from brownout.session.session import Session


class Scripted:
    """A session of two nodes; redundant again when the script says so."""

    def __init__(self, *redundant: dict[str, Any] | None) -> None:
        self.steps: list[str] = []
        self._redundant = list(redundant)
        members = [SimpleNamespace(node=name, role="primary") for name in ("n1", "n2")]
        self.adapter = SimpleNamespace(members=lambda: members)
        self.status = SimpleNamespace(say=lambda _: None)
        self.interruption = SimpleNamespace(must_stop=lambda: False)
        self.faults = SimpleNamespace(run=self._do)

    def _do(self, name: str, node: Any) -> dict[str, float]:
        self.steps.append(f"{name} {node.name}")
        return {"effective": 1.0}

    def node(self, name: str) -> Any:
        return SimpleNamespace(name=name)

    def hold(self) -> None:
        self.steps.append("hold")

    def await_milestone(self, _name: str, _timeout_s: float) -> dict[str, Any] | None:
        self.steps.append("redundant")
        return self._redundant.pop(0)


def test_redundancy_that_is_lost_while_the_load_holds_is_awaited_before_the_next_node() -> None:
    session = Scripted(*({"at": at} for at in (2.0, 9.0, 11.0, 11.0)))
    done = restart_each(cast(Session, session), False, 0.0, 60.0)
    assert [each["redundant"]["at"] for each in done["nodes"]] == [9.0, 11.0]
    of_each = ["redundant", "hold", "redundant"]
    assert session.steps == [
        *("stop_node n1", "start_node n1", *of_each),
        *("stop_node n2", "start_node n2", *of_each),
    ]


def test_no_other_node_is_touched_where_redundancy_does_not_come_back() -> None:
    session = Scripted({"at": 2.0}, None)
    with pytest.raises(ClusterError, match="not back within 60 s of the restart of `n1`"):
        restart_each(cast(Session, session), False, 0.0, 60.0)
    assert "stop_node n2" not in session.steps
