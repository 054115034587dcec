"""A test that fails in a lab shows what the lab's servers said."""

from pathlib import Path

import pytest
from tests.own_lab import own_lab

pytestmark = pytest.mark.live


def test_what_fails_in_a_lab_has_the_ends_of_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = pytest.raises(AssertionError, match="a second leader")
    with failing as failed, own_lab("lab-redis", tmp_path, monkeypatch) as cluster:
        raise AssertionError("a second leader")
    notes = failed.value.__notes__
    headings = [f"==> lab-redis {node.name}" for node in cluster.nodes]
    assert [note.split("\n")[0] for note in notes] == headings
    assert all("* " in note for note in notes)  # how Redis begins what it logs
