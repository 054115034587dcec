"""Which canary a run has: the inventory's, changed or removed by the experiment, as a stream."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from brownout.base.errors import ConfigurationError
from brownout.infra import __file__ as infra
from brownout.inventory.canary import CanarySpec
from brownout.inventory.database import databases
from brownout.inventory.model import Cluster
from brownout.load import workload
from brownout.load.canary import NAME, with_canary
from brownout.load.remote.spec import LoadSettings
from brownout.load.workload_fields import Stream


def cluster(database: str = "mongodb", canary: CanarySpec | None = None, **also: Any) -> Cluster:
    node = {"name": "n1", "address": "127.0.0.1:27017"}
    given = {"name": "c", "database": database, "environment": "test", "nodes": (node,)}
    return Cluster.model_validate({**given, "canary": canary, **also})


def canary_of(wanted: Any, on: Cluster) -> Stream | None:
    """The stream that the workload gets."""
    return with_canary(workload.load("lab"), wanted, on).stream(NAME)


MINE = CanarySpec(rate=2, options={"retryWrites": True})


@pytest.mark.parametrize("wanted", ["", "none"])
def test_the_inventory_decides_where_the_experiment_says_nothing(wanted: str) -> None:
    assert canary_of(wanted, cluster()) is None
    stream = canary_of(wanted, cluster(canary=MINE))
    assert stream is not None
    assert stream.client is not None
    assert (stream.rate, stream.client.options) == (4, {"retryWrites": True})


@pytest.mark.parametrize("wanted", ["false", "no", "OFF", False])
def test_the_experiment_does_without_the_inventorys(wanted: Any) -> None:
    assert canary_of(wanted, cluster(canary=MINE)) is None


@pytest.mark.parametrize(
    "wanted",
    ["rate=5,options.timeoutMS=300", {"rate": 5, "options": {"timeoutMS": 300}}],
)
def test_the_experiment_changes_single_settings_of_the_inventorys(wanted: Any) -> None:
    stream = canary_of(wanted, cluster(canary=MINE))
    assert stream is not None
    assert stream.client is not None
    assert stream.rate == 10
    assert stream.client.options == {"retryWrites": True, "timeoutMS": 300}


def test_it_is_a_verified_stream_of_the_ready_client_beside_the_others() -> None:
    changed = with_canary(workload.load("lab"), "true", cluster("postgresql"))
    assert changed.name == "lab"
    assert [each.name for each in changed.streams][-1:] == [NAME]
    assert len(changed.streams) == len(workload.load("lab").streams) + 1
    stream = changed.stream(NAME)
    assert stream is not None
    assert stream.client is not None
    assert stream.verified
    assert (stream.rate, stream.deadline_s, stream.ledger_keys) == (20, 10, 300)
    _, program = stream.client.command
    assert program.endswith("/infra/clients/postgresql.py")


def test_a_variant_of_a_workload_keeps_its_name_and_its_streams_theirs() -> None:
    plain = workload.load("lab:checked-reads")
    changed = with_canary(plain, "true", cluster())
    assert changed.name == "lab:checked-reads"
    assert changed.streams[:-1] == plain.streams


@pytest.mark.parametrize("name", workload.names())
def test_every_shipped_workload_has_room_for_one(name: str) -> None:
    plain = workload.load(name)
    assert with_canary(plain, "true", cluster()).streams[:-1] == plain.streams


@pytest.mark.parametrize(
    ("database", "wanted", "problem"),
    [
        ("mongodb", "perhaps", "configuration.canary: override `perhaps`: wanted path=value"),
        ("mongodb", "rate=0", "configuration.canary.rate: "),
        ("mongodb", "command=python3", "wanted a list, as "),
        ("mongodb", "threads=4", "found threads, which a canary no longer has; wanted `options`"),
        ("mongodb", "policies.timeoutMS=4", "found policies, which a canary no longer has; "),
        ("etcd", "true", "found no ready client for etcd, wanted `command`, or a database that"),
    ],
)
def test_a_canary_that_cannot_be_is_refused(database: str, wanted: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        canary_of(wanted, cluster(database))
    assert problem in str(error.value)


def test_an_inventory_of_old_says_what_replaced_its_policies() -> None:
    with pytest.raises(ValidationError, match=r"found policies.*wanted `options`"):
        CanarySpec.model_validate({"policies": {"retryWrites": False}})


def test_a_database_without_a_ready_client_has_one_by_its_command() -> None:
    stream = canary_of({"command": ["./mine", "-v"]}, cluster("etcd"))
    assert stream is not None
    assert stream.client is not None
    assert stream.client.command == ("./mine", "-v")


def test_where_the_load_comes_from_elsewhere_the_client_is_named() -> None:
    load = LoadSettings.model_validate({"host": {"address": "load1.example.com"}})
    away = cluster(load=load)
    with pytest.raises(ConfigurationError, match="on which the ready client of this one is not"):
        canary_of("true", away)
    assert canary_of({"command": ["python3", "mongodb.py"]}, away) is not None


def test_every_ready_client_that_a_database_names_is_shipped() -> None:
    named = {each.canary for each in databases().values() if each.canary}
    folder = Path(infra).parent / "clients"
    assert named
    assert all((folder / file).is_file() for file in named)
