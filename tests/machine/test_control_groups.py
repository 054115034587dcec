"""Control groups of this machine are made for processes, and removed by how their names begin."""

import os

import pytest

from brownout.machine import control_groups


def test_every_group_of_a_lab_is_removed_and_no_other() -> None:
    if reason := control_groups.why_not_here():
        pytest.skip(f"NOT TESTED: control groups: {reason}")
    prefix = f"brownout-test-{os.getpid()}-"
    ours = [control_groups.own(f"{prefix}a-{node}") for node in ("n1", "n2")]
    other = control_groups.own(f"{prefix}b-n1")
    assert other is not None
    control_groups.remove(f"{prefix}a-")
    assert [place.exists() for place in ours if place] == [False, False]
    assert other.exists()
    control_groups.remove(prefix)
    assert not other.exists()
    assert control_groups.own("") is None
