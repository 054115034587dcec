"""A lab whose members can be slowed: by netem where this machine has it, else by toxiproxy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.links import delayable

from brownout.base.errors import ClusterError, Unsupported
from brownout.cli.machine import slow_links
from brownout.databases.lab import beside, proxies
from brownout.databases.lab.network import left
from brownout.databases.mongodb.lab.settings import ReplicaSetLab
from brownout.infra import lab
from brownout.infra.lab.foreseen import foreseen
from brownout.inventory import labs
from brownout.inventory.model import ProcessSpec
from brownout.machine import netem, network

NAME = "slow-one"
MINE = "database: mongodb\nenvironment: lab\nlab: {engine: mongodb, slow_links: true, members: 1}\n"
NO_NETWORK = network.why_not()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a lab of one member lives; whatever a test leaves of it is taken down."""
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / f"{NAME}.yaml").write_text(MINE, encoding="utf-8")
    monkeypatch.setenv("BROWNOUT_CLUSTERS", str(tmp_path / "clusters"))
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    yield labs.directory(NAME)
    lab.down(NAME)
    assert list((tmp_path / "lab").iterdir()) == []


def test_without_netem_a_toxiproxy_stands_before_the_member_and_goes_with_the_lab(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(netem, "why_not_here", lambda: "this kernel has no netem")
    (node,) = lab.up(NAME).nodes
    assert isinstance(node.host, ProcessSpec)
    assert node.host.proxy is not None
    assert node.address != node.host.proxy.upstream
    assert not node.host.network_namespace
    assert (place / "toxiproxy" / "toxiproxy.pid").is_file()
    assert delayable(node).delay(20, 0).evidence["by"] == "toxiproxy"


@pytest.mark.skipif(bool(NO_NETWORK), reason=f"NOT TESTED: labs of namespaces: {NO_NETWORK}")
def test_with_netem_the_member_has_a_namespace_and_no_proxy(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = netem.why_not_here()
    monkeypatch.setattr(netem, "why_not_here", lambda: "")
    (node,) = lab.up(NAME).nodes
    assert isinstance(node.host, ProcessSpec)
    assert node.host.proxy is None
    assert node.host.network_namespace
    assert not (place / "toxiproxy").exists()
    if real:  # the node is asked once more, before anything is touched
        with pytest.raises(Unsupported, match="this kernel has no netem"):
            delayable(node).delay(20, 0)
    else:
        assert delayable(node).delay(20, 0).evidence["by"] == "netem"
        delayable(node).undelay()
        assert delayable(node).delayed() == ""
    lab.down(NAME)
    assert left(place) == []


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"secure": True}, "slow_links: wanted not secure"),
        ({"network_namespaces": True}, "wanted one of them"),
    ],
)
def test_what_cannot_be_slowed_is_no_such_lab(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ReplicaSetLab(engine="mongodb", slow_links=True, **bad)


def test_what_a_lab_could_do_is_foreseen_from_its_inventory_and_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = ReplicaSetLab(engine="mongodb", slow_links=True)
    monkeypatch.setattr(netem, "why_not_here", lambda: "no netem here")
    assert foreseen(slow, "kill") is None
    assert foreseen(slow, "delay") == lab.foreseen(slow, "delay")
    found = foreseen(slow, "delay")
    assert found is not None
    assert found.ok
    apart = foreseen(ReplicaSetLab(engine="mongodb", network_namespaces=True), "delay")
    assert apart is not None
    assert apart.reason == "no netem here"
    assert slow_links().found == "no netem here; toxiproxy does it instead"
    monkeypatch.setattr(beside, "files", lambda _: tmp_path)
    with pytest.raises(ClusterError, match="a lab with slow links needs toxiproxy"):
        proxies.find_toxiproxy()
    found = foreseen(slow, "delay")
    assert found is not None
    assert found.reason.startswith("no netem here; a lab with slow links needs toxiproxy")
    assert slow_links().found == found.reason
