"""Experiments are written so that they are read on one screen, and say what they said."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.base.compact_json import WIDTH, compact

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=40)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=20), inner, max_size=5)
    ),
)


@given(data=VALUES)
def test_what_is_written_is_what_was_given(data: Any) -> None:
    text = compact(data)
    assert json.loads(text) == data
    assert compact(json.loads(text)) == text


@pytest.mark.parametrize("long", ["x" * 20, "y" * 60, "z" * 80])
def test_a_line_is_no_longer_than_a_screen_is_wide_where_it_can_be_broken(long: str) -> None:
    provider = {"type": "python", "module": long, "func": long, "arguments": {"a": long, "b": 2}}
    data = {"method": [{"type": "action", "name": long, "provider": provider}] * 2}
    assert max(map(len, compact(data).splitlines())) <= WIDTH


def test_what_belongs_together_stays_on_a_line() -> None:
    probe = {"type": "probe", "name": "blackout", "tolerance": {"type": "jsonpath", "path": "$"},
             "provider": {"type": "python", "module": "brownout.probes.impact",
                          "func": "blackout"}}  # fmt: skip
    data = {
        "title": "t",
        "configuration": {"a": 1, "b": {"type": "env", "key": "B"}},
        "probes": [probe, {"type": "probe"}],
    }
    assert (
        compact(data)
        == """\
{
  "title": "t",
  "configuration": {
    "a": 1,
    "b": {"type": "env", "key": "B"}
  },
  "probes": [
    {"type": "probe", "name": "blackout", "tolerance": {"type": "jsonpath", "path": "$"},
     "provider": {"type": "python", "module": "brownout.probes.impact", "func": "blackout"}},
    {"type": "probe"}
  ]
}
"""
    )
