"""One secured lab for all tests of this folder; each leaves it whole."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.security.secured_lab import LAB, SecuredLab

from brownout.infra import lab
from brownout.inventory import labs


@contextmanager
def _labs_in(directory: Path) -> Iterator[None]:
    """Have labs in `directory` for a while: other tests of the session have theirs elsewhere."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", os.fspath(directory))
        environment.delenv("BROWNOUT_CLUSTERS", raising=False)
        yield


#: What logs in to the lab in a directory; another one once it was taken down.
_known: dict[Path, SecuredLab] = {}


@pytest.fixture
def secured(homes_of_labs: Callable[[str], Path]) -> Iterator[SecuredLab]:
    """A replica set of three that takes TLS only and wants a login; whole when a test begins.

    BROWNOUT_LAB_DIR points to it while the test runs.
    """
    home = homes_of_labs(LAB)
    with _labs_in(home):
        if labs.directory(LAB).is_dir():
            lab.up(LAB)  # mends what a failed test left broken
        else:
            _known[home] = SecuredLab.up()
        yield _known[home]
