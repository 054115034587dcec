"""Where a node keeps its data, and whether it has any."""

from pathlib import Path

import pytest
from tests.wording import naming

from brownout.base.errors import Refused
from brownout.databases.redis.storage import check_contents, directory, holds_data
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine.host import host_for


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(
        name="n1",
        address="r1:1",
        host=ProcessSpec(pid_file=tmp_path / "pid", command=("redis-server",)),
    )


@pytest.mark.parametrize("named", [{}, {"dir": "./"}])
def test_a_directory_that_is_not_named_is_not_guessed(named: dict[str, str], node: Node) -> None:
    with pytest.raises(Refused, match="wanted an absolute path"):
        directory(node, named)


@pytest.mark.parametrize(
    ("names", "settings", "data"),
    [
        ((), {}, False),
        (("nodes.conf",), {}, False),
        (("nodes.conf", "dump.rdb"), {}, True),
        (("appendonlydir",), {}, True),
        (("mine.rdb", "x"), {"dbfilename": "mine.rdb"}, True),
        (("n7.conf",), {"cluster-config-file": "/x/n7.conf"}, False),
    ],
)
def test_what_redis_leaves_is_known(
    names: tuple[str, ...], settings: dict[str, str], data: bool, node: Node, tmp_path: Path
) -> None:
    at = tmp_path / "data"
    at.mkdir()
    for name in names:
        (at / name).touch()
    check_contents(node, host_for(node), at, settings)
    assert holds_data(node, host_for(node), at, settings) == data


def test_what_somebody_else_left_is_not_wiped(node: Node, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").touch()
    with pytest.raises(Refused, match=naming("n1", "Redis's", "thesis.doc")):
        check_contents(node, host_for(node), tmp_path, {})
    with pytest.raises(Refused, match="is not known"):
        check_contents(node, host_for(node), tmp_path / "none", {})
