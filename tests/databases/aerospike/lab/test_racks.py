"""A lab with racks: spread, agreed on by inventory and servers, and each with every record."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_lab import own_lab

from brownout.base.errors import Unsupported
from brownout.databases.aerospike.adapter import AerospikeAdapter
from brownout.infra import lab
from brownout.inventory.model import Cluster

NAME = "lab-aerospike-racks"


@pytest.fixture
def racks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("BROWNOUT_ASD", "stand-in")
    with own_lab(NAME, tmp_path, monkeypatch) as own:
        yield own


def test_a_rack_of_the_inventory_is_one_of_the_servers(racks: Cluster) -> None:
    with AerospikeAdapter(racks) as adapter:
        chosen = [node.name for node in adapter.targets("rack=r1", 1)]
        support = adapter.supports("racks")
        answers = {view.answers["racks:"] for view in adapter.ask("racks:")}

    assert [node.rack for node in racks.nodes] == ["r1", "r2", "r1", "r2"]
    assert chosen == ["n1", "n3"]
    assert support.ok, support.reason
    assert answers == {"ns=test:rack_1=A3,A1:rack_2=A4,A2"}


def test_racks_are_refused_where_the_nodes_would_refuse_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asd = tmp_path / "asd"
    asd.write_text("#!/bin/sh\necho 'Aerospike Community Edition build 8.1.2.0'\n", "utf-8")
    asd.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_ASD", str(asd))
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)

    with pytest.raises(Unsupported, match="refuses `rack-id`"):
        lab.up(NAME)
