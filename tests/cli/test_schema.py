"""`brownout schema`: what editors are told, held against what the readers accept."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.cli.conftest import Brownout

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "workload": "steady-state/workloads",
    "limits": "steady-state/slo",
    "inventory": "infra/clusters",
    "book": "experiments/books",
    "comparison": "experiments/clients",
}
FILES = [(kind, path) for kind, where in FOLDERS.items() for path in (ROOT / where).glob("*.yaml")]

WRONG: list[tuple[str, Any]] = [
    ("workload", {"streams": [{"name": "a", "mix": {"reed": 1}, "rate": 5}]}),
    ("workload", {"streams": [{"name": "a", "mix": {"read": 1}, "rate": -5}]}),
    ("workload", {"streams": [], "colour": "blue"}),
    ("inventory", {"database": "mongodb"}),
    ("inventory", {"database": "mongodb", "environment": "prod", "nodes": []}),
    (
        "inventory",
        {
            "database": "mongodb",
            "environment": "test",
            "connection": {"auth": {"username": "me", "password": "plain"}},
        },
    ),
    ("limits", [{"measure": "blackout", "limit": 3}]),
    ("limits", [{"measure": "speed", "limit": 3, "why": "x"}]),
    ("limits", {"blackout": 3}),
    ("book", {"workload": "lab", "shares": [0.25], "engines": [{"name": "a", "cluster": "b"}]}),
    (
        "book",
        {
            "workload": "lab",
            "shares": [2],
            "engines": [{"name": "a", "cluster": "b"}],
            "faults": [{"name": "kill", "experiment": "node-kill"}],
        },
    ),
    ("comparison", {"cluster": "a", "experiment": "stepdown", "clients": []}),
    ("comparison", {"cluster": "a", "experiment": "b", "clients": [{"name": "c", "command": []}]}),
]


_validators: dict[str, Any] = {}


def _validator(kind: str, brownout: Brownout) -> Any:
    if kind not in _validators:
        schema = json.loads(brownout("schema", kind).out)
        validator = jsonschema.validators.validator_for(schema)
        validator.check_schema(schema)
        _validators[kind] = validator(schema)
    return _validators[kind]


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda part: getattr(part, "stem", part))
def test_every_shipped_file_suits_its_schema(kind: str, path: Path, brownout: Brownout) -> None:
    errors = _validator(kind, brownout).iter_errors(yaml.safe_load(path.read_text()))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(("kind", "data"), WRONG)
def test_what_a_reader_refuses_an_editor_marks(kind: str, data: Any, brownout: Brownout) -> None:
    assert not _validator(kind, brownout).is_valid(data)


def test_a_secret_is_wanted_as_a_reference_and_each_host_by_its_kind(brownout: Brownout) -> None:
    validator = _validator("inventory", brownout)
    node = {"name": "n1", "address": "db1:27017"}
    cluster = {"database": "mongodb", "environment": "test", "nodes": [node]}
    assert validator.is_valid(cluster)
    auth = {"username": "me", "password": {"env": "PASSWORD"}}
    assert validator.is_valid({**cluster, "connection": {"auth": auth}})
    auth = {"username": "me", "password": {"secret": "orders.password"}}
    assert validator.is_valid({**cluster, "connection": {"auth": auth}})
    assert validator.is_valid({**cluster, "connection": {"uri": "mongodb://db1"}})
    assert validator.is_valid({**cluster, "connection": {"uri": {"env": "URI"}}})
    ssh = {"kind": "ssh", "service": "mongod"}
    assert validator.is_valid({**cluster, "nodes": [{**node, "host": ssh}]})
    assert not validator.is_valid({**cluster, "nodes": [{**node, "host": {**ssh, "pid_file": 1}}]})
