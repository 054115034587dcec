"""Other tools' files, whatever is in them, become an inventory that loads, or are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from tests.cli.test_inventory import AEROLAB_7, AEROLAB_8, LISTED
from tests.fuzzing import answers, changed, damaged, fuzzed

from brownout.inventory.importers import Imported, aerolab, ansible, written
from brownout.inventory.importers.ansible_variables import Wanted
from brownout.inventory.importers.document import server_of

FORMS = {
    "aerolab 8": json.dumps(AEROLAB_8),
    "aerolab 7": json.dumps(AEROLAB_7),
    "list": LISTED,
}
WANTED = Wanted(("aerospike",), "aerospike", server_of("aerospike"))
READ: dict[bool, Callable[[str], Imported]] = {
    True: lambda text: aerolab.read(text, "given"),
    False: lambda text: ansible.read(text, "given", WANTED),
}


def _made(name: str, text: str) -> str | None:
    return answers(lambda: written(READ[name.startswith("aerolab")](text), "aerospike"))


@pytest.mark.parametrize("name", FORMS)
def test_the_undamaged_file_is_read(name: str) -> None:
    assert _made(name, FORMS[name])


@pytest.mark.parametrize("name", FORMS)
def test_a_damaged_file_is_read_or_refused(name: str) -> None:
    @fuzzed(40)
    @given(data=damaged(FORMS[name].encode()))
    def check(data: bytes) -> None:
        _made(name, data.decode(errors="replace"))

    check()


@pytest.mark.parametrize("name", ["aerolab 8", "aerolab 7", "list"])
def test_other_values_than_wanted_are_read_or_refused(name: str) -> None:
    @fuzzed(60)
    @given(odd=changed(json.loads(FORMS[name])))
    def check(odd: Any) -> None:
        _made(name, json.dumps(odd))

    check()
