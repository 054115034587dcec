"""Spares: laid out with a lab, no part of it until an experiment adds them, and put back out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
from tests.infra.lab.test_lifecycle import NAME, is_whole, processes_below
from tests.wording import mentions

from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for


def data_of(node: Node) -> list[Path]:
    assert isinstance(node.host, ProcessSpec)
    assert node.host.working_directory is not None
    return list((node.host.working_directory / "data").iterdir())


def add(cluster: Cluster, spare: Node) -> None:
    host_for(spare).start()
    with MongoAdapter(cluster) as adapter:
        adapter.join(spare)


def test_a_spare_is_laid_out_empty_and_is_no_part_of_the_lab(fresh_lab: Cluster) -> None:
    (spare,) = fresh_lab.spares

    assert (spare.name, data_of(spare)) == ("n4", [])
    assert inventory.load(NAME).spares == (spare,)
    status = lab.status(NAME)
    assert status.condition == "up"
    assert [(s.name, s.process, s.state) for s in status.spares] == [("n4", "not running", "spare")]
    assert list(lab.logs(NAME)) == ["n1", "n2", "n3"]


def test_up_puts_out_a_spare_that_was_left_in_and_takes_in_a_member_that_was_left_out(
    fresh_lab: Cluster,
) -> None:
    (spare,), victim = fresh_lab.spares, fresh_lab.nodes[2]
    add(fresh_lab, spare)
    with MongoAdapter(fresh_lab) as adapter:
        adapter.leave(victim)
    assert lab.status(NAME).condition == "up"
    assert lab.status(NAME).spares[0].state in {"STARTUP", "STARTUP2", "SECONDARY"}

    said: list[str] = []
    cluster = lab.up(NAME, progress=said.append)

    assert is_whole(cluster)
    assert [line for line in said if mentions(line, victim.name)]
    assert [line for line in said if mentions(line, spare.name)]
    assert not host_for(spare).running().running
    assert data_of(spare) == []
    with MongoAdapter(cluster) as adapter:
        assert adapter.setting("votes_and_priority", victim) == {"votes": 1, "priority": 1}


class TestAlone:
    """One member and one spare."""

    @pytest.fixture
    def cluster(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
        mine = tmp_path / "clusters"
        mine.mkdir()
        text = (
            "{database: mongodb, environment: lab, lab: {engine: mongodb, members: 1, spares: 1}}"
        )
        (mine / f"{NAME}.yaml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("BROWNOUT_CLUSTERS", str(mine))
        monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
        yield lab.up(NAME)
        lab.down(NAME)
        assert processes_below(tmp_path / "lab") == []

    def test_a_running_spare_makes_no_lab_and_down_ends_it_too(
        self, cluster: Cluster, tmp_path: Path
    ) -> None:
        host_for(cluster.spares[0]).start()
        host_for(cluster.nodes[0]).stop("kill")

        assert lab.status(NAME).condition == "crashed"
        assert lab.down(NAME)
        assert processes_below(tmp_path / "lab") == []


def test_racks_are_dealt_out_in_turn_and_are_tags_of_the_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    try:
        cluster = lab.up("lab-mongodb-racks")

        assert [node.rack for node in cluster.nodes] == ["r1", "r2", "r3", "r1", "r2"]
        with MongoAdapter(cluster) as adapter:
            assert adapter.supports("racks").ok
            assert [n.name for n in adapter.targets("rack=r2", seed=1)] == ["n2", "n5"]
        with pymongo.MongoClient[dict[str, Any]](access(cluster).uri) as client:
            config = client.admin.command("replSetGetConfig")["config"]
        assert [member["tags"]["rack"] for member in config["members"]] == [
            node.rack for node in cluster.nodes
        ]
    finally:
        lab.down("lab-mongodb-racks")
