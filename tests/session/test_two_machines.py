"""Two machines that want one cluster at the same time: exactly one has it, on every engine."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.machines import Machine, machines

from brownout.infra import lab

LABS = (
    "lab-mongodb-partition",
    "lab-redis-partition",
    "lab-etcd-partition",
    "lab-cassandra-partition",
    "lab-postgresql",
    "lab-aerospike",
    "lab-couchbase",
)
SMALL = (
    "namespace=brownout_two,data.keys=50,streams.orders.ledger_keys=20,"
    "streams.lookups.rate=20,streams.orders.rate=20"
)


def _load(machine: Machine, cluster: str, length: str, *more: str) -> subprocess.Popen[str]:
    settings = [word for each in SMALL.split(",") for word in ("--set", each)]
    return machine.start("load", "lab", "--cluster", cluster, "--for", length, *settings, *more)


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root makes network namespaces")
@pytest.mark.parametrize("name", LABS)
def test_of_two_machines_that_want_a_cluster_at_once_exactly_one_has_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path / "lab"))
    cluster = lab.up(name)
    try:
        with machines(cluster, tmp_path) as both:
            loads = [_load(machine, name, "20s") for machine in both]
            outcomes = [(load.communicate(timeout=400), load.returncode) for load in loads]
            print(outcomes)
            assert sorted(code for _, code in outcomes) == [0, 64]
            ((_, refusal),) = [said for said, code in outcomes if code == 64]
            assert re.search(r"\w+@\w+", refusal), refusal  # who has it, and where
            # What the first one had it has given back.
            for machine in both:
                again = _load(machine, name, "1s", "--clean")
                out, err = again.communicate(timeout=300)
                assert again.returncode == 0, out + err
    finally:
        lab.down(name)
