"""Commands of an inventory that move the primary where nothing supervises the servers."""

from pathlib import Path
from typing import Any

import pytest
from tests.wording import naming

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.streaming import filled

INVENTORY = {
    "database": "postgresql",
    "environment": "test",
    "nodes": [{"name": "pg1", "address": "pg1:5432"}],
}


def parsed(**settings: Any) -> Any:
    return inventory.parse({**INVENTORY, **settings}, Path("orders.yaml"))


def test_an_empty_one_says_that_nothing_moves_the_primary() -> None:
    assert parsed(streaming={}).streaming.promote == ()
    assert parsed().streaming is None


def test_a_command_names_the_node_and_the_primary_and_keeps_other_braces() -> None:
    words = ["awk", "{print $1}", "--to={node}", "{primary_host}:{primary_port}"]
    command = parsed(streaming={"rejoin": words}).streaming.rejoin
    values = {"node": "pg1", "primary_host": "pg2", "primary_port": "5433"}
    assert filled(command, values) == ["awk", "{print $1}", "--to=pg1", "pg2:5433"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"promote": ["p", "{primary}"]}, ("streaming.promote", "{primary}", "{node}", "{port}")),
        ({"rejoin": ["p", "{standby}"]}, ("streaming.rejoin", "{standby}", "{primary_host}")),
        ({"switchover": [" "]}, ("streaming.switchover", "program")),
        ({"timeout_s": 0}, ("streaming.timeout_s",)),
        ({"demote": ["p"]}, ("streaming.demote", "unknown setting")),
    ],
)
def test_a_wrong_one_is_refused(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError, match=naming(*words)):
        parsed(streaming=settings)


def test_other_databases_have_none() -> None:
    with pytest.raises(ConfigurationError, match=naming("streaming", "etcd")):
        parsed(database="etcd", streaming={})
