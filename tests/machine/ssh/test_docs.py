"""Every setting of a node or a load on another machine is in docs/ssh.md, with its default."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from brownout.load.remote import LoadHost
from brownout.machine.ssh.spec import Commands, Login, SshSpec

DOCS = (Path(__file__).parents[3] / "docs" / "ssh.md").read_text(encoding="utf-8")
MODELS: list[type[BaseModel]] = [Commands, Login, SshSpec, LoadHost]


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_is_documented(model: type[BaseModel]) -> None:
    assert [name for name in model.model_fields if f"`{name}`" not in DOCS and name != "kind"] == []


@pytest.mark.parametrize("model", [Login, SshSpec])
def test_the_defaults_in_the_docs_are_those_in_effect(model: type[BaseModel]) -> None:
    rows = {line.split("`")[1]: line for line in DOCS.splitlines() if line.startswith("| `")}
    for name, field in model.model_fields.items():
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            assert rows[name].endswith(f"| {field.default:g} |")
