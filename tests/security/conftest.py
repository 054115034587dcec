"""One secured lab for all tests of this folder; each leaves it whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import home_of_lab
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


@pytest.fixture(scope="session")
def _secured_lab_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from home_of_lab(tmp_path_factory, LAB)


#: What logs in to the lab in a directory; another one once it was taken down.
_known: dict[Path, SecuredLab] = {}


@pytest.fixture
def secured(_secured_lab_home: Path) -> Iterator[SecuredLab]:
    """A replica set of three that takes TLS only and wants a login; whole when a test begins.

    BROWNOUT_LAB_DIR points to it while the test runs.
    """
    with _labs_in(_secured_lab_home):
        if labs.directory(LAB).is_dir():
            lab.up(LAB)  # mends what a failed test left broken
        else:
            _known[_secured_lab_home] = SecuredLab.up()
        yield _known[_secured_lab_home]
