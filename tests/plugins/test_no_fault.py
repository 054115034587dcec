"""Explorations whose only fault does nothing: none of the judges may find anything."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.forked_run import brownout

PACKAGE = Path(__file__).parent / "no_fault"
LABS = (
    "lab-mongodb", "lab-postgresql", "lab-redis", "lab-redis-sentinel", "lab-cassandra",
    "lab-etcd", "lab-aerospike",
)  # fmt: skip
SEEDS = (1, 2, 3)
NOTHING_JUDGED = 2


@pytest.fixture(scope="module")
def installed(install: Callable[[Path], Path]) -> Path:
    """Where the package is installed."""
    return install(PACKAGE)


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lab", LABS)
def test_an_exploration_without_a_fault_finds_nothing(
    tmp_path: Path, installed: Path, lab: str, seed: int
) -> None:
    ran = brownout(
        "explore", lab, "--only", "leave_node", "--for", "1m", "--seed", str(seed),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    (record,) = tmp_path.glob("runs/explorations/*/explore.json")
    explored = json.loads(record.read_text())
    assert not explored["findings"], explored
    assert not any(each["broken"] for each in explored["tries"])
    if ran.returncode == NOTHING_JUDGED:
        pytest.skip("the load was never steady on this machine, so nothing was judged")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    whole = [each for each in explored["tries"] if each["read_back"] and all(each["moments"])]
    assert whole, "no run had all that its judges need"
