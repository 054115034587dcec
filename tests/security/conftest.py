"""One secured lab for all tests of this folder; each leaves it whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.security.secured_lab import LAB, SecuredLab

from brownout.infra import lab


@contextmanager
def _labs_in(directory: Path) -> Iterator[None]:
    """Have labs in `directory` for a while: other tests of the session have theirs elsewhere."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BROWNOUT_LAB_DIR", os.fspath(directory))
        environment.delenv("BROWNOUT_CLUSTERS", raising=False)
        yield


@pytest.fixture(scope="session")
def _session_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SecuredLab]]:
    directory = tmp_path_factory.mktemp("secured")
    try:
        with _labs_in(directory):
            found = SecuredLab.up()
        yield directory, found
    finally:
        with _labs_in(directory):
            lab.down(LAB)


@pytest.fixture
def secured(_session_lab: tuple[Path, SecuredLab]) -> Iterator[SecuredLab]:
    """A replica set of three that takes TLS only and wants a login; whole when a test begins.

    BROWNOUT_LAB_DIR points to it while the test runs.
    """
    directory, found = _session_lab
    with _labs_in(directory):
        lab.up(LAB)  # mends what a failed test left broken
        yield found
