"""Files of every kind, whatever is in them: `brownout check` finds problems or none, and no end."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fuzzing import changed, damaged, fuzzed

from brownout.base import catalog
from brownout.cli.file_kinds import check_file

#: One of each kind, and the text of each.
SHIPPED = {
    f"{collection}/{name}": catalog.read(collection, name)
    for collection in catalog.COLLECTIONS
    for name in catalog.names(collection)
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A shipped file with some places of it changed."""
    name = draw(st.sampled_from(sorted(SHIPPED)))
    return draw(changed(yaml.safe_load(SHIPPED[name])))


def checked(file: Path) -> None:
    _, problems = check_file(file)
    assert all(problem.strip() for problem in problems)


@fuzzed(150)
@given(odd=documents())
def test_a_changed_file_is_checked(place: Path, odd: Any) -> None:
    (place / "changed.json").write_text(json.dumps(odd))
    checked(place / "changed.json")


@fuzzed(60)
@given(data=st.sampled_from(sorted(SHIPPED)).flatmap(lambda n: damaged(SHIPPED[n].encode())))
@example(data=b"method: [" + b"[" * 30_000)
def test_a_damaged_file_is_checked(place: Path, data: bytes) -> None:
    (place / "damaged.yaml").write_bytes(data)
    checked(place / "damaged.yaml")
