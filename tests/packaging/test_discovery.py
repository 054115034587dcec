"""`chaos discover brownout` lists every activity, and each can be used as Chaos Toolkit wants."""

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

from brownout import discover

ACTIVITY_MODULES = [
    import_module(f"brownout.{kind}.{module.name}")
    for kind in ("actions", "probes")
    for module in pkgutil.iter_modules(import_module(f"brownout.{kind}").__path__)
]
ACTIVITIES = [(module, name) for module in ACTIVITY_MODULES for name in module.__all__]


def test_discovery_lists_exactly_what_the_modules_export() -> None:
    listed = {(found["mod"], found["name"]) for found in discover()["activities"]}
    assert listed == {(module.__name__, name) for module, name in ACTIVITIES}


@pytest.mark.parametrize("module", ACTIVITY_MODULES, ids=lambda module: module.__name__)
def test_exports_are_sorted_and_there(module: ModuleType) -> None:
    assert list(module.__all__) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(("module", "name"), ACTIVITIES, ids=lambda part: str(part))
def test_an_activity_is_a_documented_function_with_typed_arguments(
    module: ModuleType, name: str
) -> None:
    function = getattr(module, name)
    assert inspect.isfunction(function)
    assert inspect.getdoc(function)
    parameters = list(inspect.signature(function).parameters.values())
    assert [parameter.name for parameter in parameters[-2:]] == ["configuration", "secrets"]
    for parameter in parameters:
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert parameter.annotation is not inspect.Parameter.empty


def test_no_argument_is_shown_as_an_object_of_unknown_type() -> None:
    unclear = [
        (found["name"], argument["name"])
        for found in discover()["activities"]
        for argument in found["arguments"]
        if argument["type"] == "object"
    ]
    assert unclear == []
