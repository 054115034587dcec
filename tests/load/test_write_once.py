"""Clients without conditional writes: every write has a key of its own, so none hides a loss.

The two shipped examples are such clients: two documents in one transaction on MongoDB, and a table
that is read by its secondary index on PostgreSQL.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import Brownout, brownout, home

from brownout.inventory.model import Cluster
from brownout.run.ledger_lines import read_ledger_lines

__all__ = ["brownout", "home"]

EXAMPLES = Path(__file__).parents[2] / "infra" / "clients" / "examples"


def workload(where: Path, client: str, options: dict[str, Any]) -> str:
    """A workload by the built-in driver and such a client, in a file."""
    own = {"command": [sys.executable, str(EXAMPLES / client)], "options": options}
    streams = [
        {"name": "lookups", "mix": {"read": 100}, "rate": 50, "deadline_s": 1},
        {
            "name": "orders", "mix": {"read": 50, "update": 50}, "rate": 60, "deadline_s": 1,
            "verified": True, "ledger_keys": 100, "client": {**own, "write_once": True},
        },
    ]  # fmt: skip
    file = where / "once.yaml"
    file.write_text(json.dumps({"data": {"keys": 500, "value_bytes": 100}, "streams": streams}))
    return str(file)


def lost_keys(directory: Path | None) -> dict[str, int]:
    """The stored keys that the ledger was promised and that are gone, with the writes of each."""
    assert directory is not None
    lines = list(read_ledger_lines(directory / "ledger.ndjson"))
    promised = {line["key"]: line["acked_n"] for line in lines if "acked_n" in line}
    missing = {line["read"] for line in lines if line.get("missing")}
    return {key: n for key, n in promised.items() if n and key in missing}


@pytest.mark.live
def test_transactions_that_one_member_alone_acknowledged_are_found_lost_one_by_one(
    lab_partition: Cluster, tmp_path: Path
) -> None:
    file = workload(tmp_path, "mongodb_transaction.py", {"w": 1})
    told = ("--var", f"cluster={lab_partition.name}", "--var", f"workload={file}")
    experiment = chaos.quick(chaos.load("write-concern-1"))
    experiment["configuration"]["partition_s"] = 6
    ran = chaos.run(experiment, tmp_path, *told)
    lost, ledger = lost_keys(ran.directory), ran.impact["ledger"]
    assert ran.impact["verdict"] == "fail", ran.output
    assert ledger["lost"] == len(lost) > 0
    assert set(lost.values()) == {1}  # nothing was written over
    assert ledger["keys"] > ledger["acknowledged"] - 100  # the first ones were loaded


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
def test_rows_that_an_orphaned_primary_acknowledged_are_found_lost(tmp_path: Path) -> None:
    file = workload(tmp_path, "postgresql_index.py", {"max_size": 10})
    ran = chaos.run_as_shipped(
        "patroni-killed", tmp_path, "lab-postgresql", "--var", f"workload={file}"
    )
    lost = lost_keys(ran.directory)
    assert ran.impact["verdict"] == "fail", ran.output
    assert ran.impact["ledger"]["lost"] == len(lost) > 0
    assert set(lost.values()) == {1}


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("client", "cluster", "experiment"),
    [
        ("mongodb_transaction.py", "lab-mongodb", "node-kill"),
        ("postgresql_index.py", "lab-postgresql-sync", "node-kill"),
    ],
)
def test_a_clean_failover_raises_no_alarm(
    tmp_path: Path, client: str, cluster: str, experiment: str
) -> None:
    file = workload(tmp_path, client, {})
    ran = chaos.run_as_shipped(experiment, tmp_path, cluster, "--var", f"workload={file}")
    ran.check_proven()
    ledger = ran.impact["ledger"]
    assert (ledger["state"], ledger["lost"], ledger["unexpected"]) == ("clean", 0, 0), ran.output
    assert ledger["acknowledged"] > 500
    assert lost_keys(ran.directory) == {}


@pytest.mark.matrix
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("client", "cluster"),
    [("mongodb_transaction.py", "lab-mongodb"), ("postgresql_index.py", "lab-postgresql")],
)
def test_a_load_without_a_fault_raises_no_alarm(
    brownout: Brownout, tmp_path: Path, client: str, cluster: str
) -> None:
    file = workload(tmp_path, client, {})
    checked = brownout("client", "check", "--write-once", "--cluster", cluster, "--",
                       sys.executable, str(EXAMPLES / client))  # fmt: skip
    assert checked.code == 0, checked.out
    loaded = brownout("load", file, "--cluster", cluster, "--for", "10s")
    assert loaded.code == 0, loaded.out + loaded.err
    assert re.search(r"^ledger: (\d+) of \1 keys read back$", loaded.out, re.MULTILINE), loaded.out
