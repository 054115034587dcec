"""A workload's file, whatever is in it, is read or refused in words."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import VALUES, answers, changed, damaged, fuzzed

from brownout.load import workload as workloads
from brownout.load.workload import Workload

SHIPPED = Path(__file__).parents[2] / "steady-state" / "workloads"
TEXT = (SHIPPED / "lab.yaml").read_bytes()


def usable(found: Workload | None) -> None:
    """What is read can be used: said, recorded, and made a specification of."""
    if found is not None:
        assert found.summary()
        assert found.public()["streams"]
        found.to_spec(directory=Path("x"), seed=1, writer="w", driver="scripted",
                      connection={}, options={})  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workload") / "mine.yaml"


@fuzzed()
@given(data=damaged(TEXT))
def test_a_damaged_file_is_read_or_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    usable(answers(lambda: workloads.load(path)))


@fuzzed()
@given(odd=changed(yaml.safe_load(TEXT)))
def test_other_settings_than_wanted_are_read_or_refused(path: Path, odd: Any) -> None:
    path.write_text(yaml.safe_dump(odd))
    usable(answers(lambda: workloads.load(path)))


PLACES = st.sampled_from(("streams.0.rate", "streams.9.rate", "data.keys", "options.mongodb.x", ""))
PAIRS = st.tuples(st.one_of(PLACES, st.text(max_size=12)), VALUES)


@fuzzed()
@given(pairs=st.lists(PAIRS, max_size=3), text=st.booleans())
def test_overrides_are_taken_or_refused(pairs: list[tuple[str, Any]], text: bool) -> None:
    given = ",".join(f"{place}={value}" for place, value in pairs) if text else dict(pairs)
    usable(answers(lambda: workloads.load("lab", given)))
