"""A load host: a real sshd on loopback, whose directory for us is a test's own."""

import shutil
from pathlib import Path

import pytest
from tests.sshd import Sshd

from brownout.base.binary import find_loadgen
from brownout.load.remote import LoadHost
from brownout.load.remote.files import hash_of


@pytest.fixture
def used_host(bare_host: LoadHost, tmp_path: Path) -> LoadHost:
    """A load host that has the binary from an earlier run, which saves a second."""
    binary = tmp_path / "there" / f"loadgen-{hash_of(find_loadgen())}"
    binary.parent.mkdir()
    shutil.copy(find_loadgen(), binary)
    return bare_host


@pytest.fixture
def bare_host(sshd: Sshd, tmp_path: Path) -> LoadHost:
    """A load host that was never used; what it keeps lies in `tmp_path / "there"`."""
    return LoadHost.model_validate(sshd.login(directory=str(tmp_path / "there")))
