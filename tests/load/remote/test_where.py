"""From a cluster's inventory to the place of its load."""

from pathlib import Path
from typing import Any

import pytest

from brownout.cluster import inventory
from brownout.cluster.model import Cluster
from brownout.errors import ConfigurationError
from brownout.load.remote import RemotePlace
from brownout.load.where import collect_left, place_for


def _cluster(directory: Path, **more: Any) -> Cluster:
    raw = {
        "database": "mongodb",
        "environment": "test",
        "nodes": [{"name": "n1", "address": "db1:27017"}],
        **more,
    }
    return inventory.parse(raw, directory / "orders.yaml")


@pytest.mark.parametrize("more", [{}, {"load": {}}])
def test_a_load_runs_here_unless_a_host_is_named(tmp_path: Path, more: dict[str, Any]) -> None:
    cluster = _cluster(tmp_path, **more)

    assert place_for(cluster, tmp_path) is None
    assert not collect_left(cluster, tmp_path)


def test_a_load_host_is_the_place_of_its_load(tmp_path: Path) -> None:
    cluster = _cluster(tmp_path, load={"host": {"address": "load1"}})

    assert isinstance(place_for(cluster, tmp_path), RemotePlace)
    assert not collect_left(cluster, tmp_path)  # nothing was started there


def test_a_misspelt_setting_of_a_load_host_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"load\.host\.adress: unknown setting"):
        _cluster(tmp_path, load={"host": {"adress": "load1"}})
