"""A lab for one test, which may leave it in any condition."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from brownout.base.errors import BrownoutError
from brownout.databases.lab import file_systems
from brownout.infra import lab
from brownout.inventory import labs
from brownout.inventory.model import Cluster

__all__ = ["note_logs", "own_lab"]


@contextmanager
def own_lab(name: str, where: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Bring the shipped lab `name` up below `where` and take it down, with its file systems."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(where))
    monkeypatch.delenv("BROWNOUT_CLUSTERS", raising=False)
    try:
        yield lab.up(name)
    except Exception as error:
        note_logs(error, name)
        raise
    finally:
        lab.down(name)
        assert file_systems.left(labs.directory(name)) == []


def note_logs(error: Exception, name: str) -> None:
    """Add the ends of the logs of a lab to what failed in it: its servers are gone afterwards."""
    with suppress(BrownoutError):
        for node, tail in lab.logs(name, lines=15).items():
            error.add_note("\n".join([f"==> {name} {node}", *(line[:200] for line in tail)]))
