"""A steady load on Couchbase's mock, which every result names; no fault is made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos

from brownout.databases.couchbase.adapter import NO_FAULTS
from brownout.inventory.model import Cluster

ON = "lab-couchbase"
pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1200)]


def test_a_steady_load_is_served_and_its_result_says_that_no_database_served_it(
    lab_couchbase: Cluster, tmp_path: Path
) -> None:
    settings = [word for each in chaos.LOAD.split(",") for word in ("--set", each)]
    said = brownout(tmp_path, "load", "lab", "--cluster", ON, "--for", "5s", *settings)
    for words in (
        "0 failed, 0 in doubt",
        "500 of 500 keys read back",
        "STAND-IN: not the database",
    ):
        assert words in said
    assert "`brownout`" in brownout(tmp_path, "clean", "--cluster", ON)


def brownout(runs: Path, *words: str) -> str:
    """Return what a command says that ends well."""
    done = subprocess.run(
        [sys.executable, "-m", "brownout", *words],
        env={**os.environ, "BROWNOUT_RUNS": str(runs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["node-kill", "node-pause", "rolling-restart", "stepdown"])
def test_a_fault_is_refused_with_its_reason_before_anything_is_touched(
    name: str, lab_couchbase: Cluster, tmp_path: Path
) -> None:
    options = ("--var", f"cluster={ON}", *chaos.GENTLY)
    ran = chaos.run(chaos.load(name), tmp_path, *options)
    assert NO_FAULTS in " ".join(ran.output.split())
    assert ran.code != 0
    assert ran.directory is None or not ran.deeds
