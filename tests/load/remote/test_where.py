"""From a cluster's inventory to the places of its load."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.load.place import Here
from brownout.load.remote import RemotePlace
from brownout.load.where import collect_left, generators_of, places_for


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

    assert [type(place) for place in places_for(cluster, tmp_path)] == [Here]
    assert generators_of(cluster) == 1
    assert not collect_left(cluster, tmp_path)


def test_a_load_host_is_the_place_of_its_load(tmp_path: Path) -> None:
    cluster = _cluster(tmp_path, load={"host": {"address": "load1"}})

    (place,) = places_for(cluster, tmp_path)
    assert isinstance(place, RemotePlace)
    assert "load1" in place.where
    assert not collect_left(cluster, tmp_path)  # nothing was started there


def test_each_of_several_load_hosts_is_a_place(tmp_path: Path) -> None:
    hosts = [{"address": "load1"}, {"address": "load2", "port": 2222}]
    cluster = _cluster(tmp_path, load={"where": "ssh", "hosts": hosts})

    places = places_for(cluster, tmp_path)
    assert [type(place) for place in places] == [RemotePlace, RemotePlace]
    assert generators_of(cluster) == 2
    assert ["load1" in places[0].where, "load2" in places[1].where] == [True, True]
    assert not collect_left(cluster, tmp_path)


def test_a_misspelt_setting_of_a_load_host_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"load\.host\.adress: unknown setting"):
        _cluster(tmp_path, load={"host": {"adress": "load1"}})
    with pytest.raises(ConfigurationError, match=r"load\.hosts\[1\]\.adress: unknown setting"):
        _cluster(
            tmp_path, load={"where": "ssh", "hosts": [{"address": "load1"}, {"adress": "load2"}]}
        )


def test_a_load_from_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"load\.where: found 'moon', wanted one of kubernetes, ssh"
    ):
        _cluster(tmp_path, load={"where": "moon"})
