"""A lab for one test, which may leave it in any condition."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brownout.databases.lab import file_systems
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster

__all__ = ["own_lab"]


@contextmanager
def own_lab(name: str, where: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Bring the shipped lab `name` up below `where` and take it down, with its file systems."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(where))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        yield lab.up(name)
    finally:
        lab.down(name)
        assert file_systems.left(labs.directory(name)) == []
