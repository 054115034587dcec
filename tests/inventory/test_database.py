"""What a database registers: functions that are imported when they are called."""

from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest

from brownout.inventory.database import databases, if_secure, later


def test_a_function_or_a_method_is_imported_when_it_is_called() -> None:
    assert later("operator:add")(2, 3) == 5
    assert later("brownout.inventory.labs:Path.cwd")().is_absolute()
    missing = later("brownout.no_such_module:find")
    with pytest.raises(ModuleNotFoundError):
        missing()


def _references(of: Any) -> Iterator[str]:
    for field in fields(of):
        value = getattr(of, field.name)
        several = value.values() if isinstance(value, dict) else (value,)
        for each in several:
            if isinstance(each, partial):
                yield each.args[0]


@pytest.mark.parametrize("name", databases())
def test_whatever_a_database_names_for_later_is_there(name: str) -> None:
    database = databases()[name]
    references = [*_references(database)]
    for kind in database.labs.values():
        references += _references(kind)
    for reference in references:
        module, _, function = reference.partition(":")
        assert callable(attrgetter(function)(import_module(module))), reference


def test_only_a_secure_lab_needs_what_makes_certificates() -> None:
    assert if_secure("lab-x")(SimpleNamespace(secure=False)) == {}
    assert if_secure("lab-x")(SimpleNamespace(secure=True)) == {
        "a secure lab": ("cryptography", "lab-x")
    }
