"""docs/workloads.md names every setting, and its example is valid."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from brownout.load import options, workload_fields
from brownout.load import workload as workloads
from brownout.load.workload import Workload
from brownout.settings_file import parse_yaml

PAGE = Path(__file__).parents[2] / "docs" / "workloads.md"
MODELS = (
    Workload,
    workload_fields.Data,
    workload_fields.Stream,
    workload_fields.Uniform,
    workload_fields.Zipf,
    workload_fields.Gaussian,
    workload_fields.HotSet,
    workload_fields.Lanes,
    options.DriverOptions,
    options.AerospikeOptions,
    options.MongoOptions,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_setting_is_explained(model: type[BaseModel]) -> None:
    page = PAGE.read_text()
    missing = [name for name in model.model_fields if f"`{name}`" not in page]
    assert not missing


def test_the_example_is_valid() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert workloads.parse(parse_yaml(example, "example")).rate == 800


def test_every_shipped_workload_is_listed() -> None:
    assert all(f"| `{name}` |" in PAGE.read_text() for name in workloads.names())
