"""docs/workloads.md names every setting, and its example is valid."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from brownout.base import catalog
from brownout.base.settings_file import parse_yaml
from brownout.databases.aerospike.options import AerospikeOptions
from brownout.databases.mongodb.options import MongoOptions
from brownout.load import options, workload_fields, workload_http, workload_models
from brownout.load import workload as workloads
from brownout.load.workload import Workload

PAGE = Path(__file__).parents[2] / "docs" / "workloads.md"
MODELS = (
    Workload,
    workload_fields.Data,
    workload_fields.DataSet,
    workload_fields.Stream,
    workload_models.Vote,
    workload_models.Play,
    workload_models.Reader,
    workload_http.Endpoint,
    workload_fields.Uniform,
    workload_fields.Zipf,
    workload_fields.Gaussian,
    workload_fields.HotSet,
    workload_fields.Lanes,
    options.DriverOptions,
    AerospikeOptions,
    MongoOptions,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_setting_is_explained(model: type[BaseModel]) -> None:
    page = PAGE.read_text()
    missing = [name for name in model.model_fields if f"`{name}`" not in page]
    assert not missing


def test_the_example_is_valid() -> None:
    example, _, _ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert workloads.parse(parse_yaml(example, "example")).rate == 800


def test_the_example_of_an_sla_is_valid() -> None:
    _, _, example = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    user = {"name": "user-profile", "mix": {"read": 80, "update": 20}, "rate": 1}
    parsed = workloads.parse({"streams": [user], **parse_yaml(example, "example")})
    assert parsed.sla["user-profile"]["read"] == {"p999_ms": 1}


def test_every_limit_of_an_sla_is_explained() -> None:
    page = PAGE.read_text()
    assert not [name for name in workload_fields.PERCENTILES if f"`{name}`" not in page]


def test_every_shipped_workload_is_listed() -> None:
    assert all(f"| `{name}` |" in PAGE.read_text() for name in catalog.names("workloads"))
