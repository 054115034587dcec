"""A stream whose operations a program of the user's does, on a real cluster that fails over."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests import chaos_runner as chaos
from tests.cli.conftest import Brownout, brownout, home

__all__ = ["brownout", "home"]

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "infra" / "clients"
CLIENT = CLIENTS / "postgresql.py"
WORKLOAD = {
    "data": {"keys": 500, "value_bytes": 100},
    "streams": [
        {"name": "lookups", "mix": {"read": 80, "update": 20}, "rate": 100, "deadline_s": 1},
        {
            "name": "orders", "mix": {"read": 50, "update": 50}, "rate": 100, "deadline_s": 1,
            "verified": True, "ledger_keys": 200,
            "client": {"command": [sys.executable, str(CLIENT)], "options": {"max_size": 10}},
        },
    ],
}  # fmt: skip


@pytest.mark.matrix
@pytest.mark.timeout(400)
def test_the_clients_own_recovery_and_ledger_are_measured_beside_the_drivers(
    tmp_path: Path,
) -> None:
    workload = tmp_path / "own.yaml"
    workload.write_text(json.dumps(WORKLOAD))
    ran = chaos.run_as_shipped(
        "node-kill", tmp_path, "lab-postgresql", "--var", f"workload={workload}"
    )
    ran.check_proven()
    (fault,) = ran.impact["faults"]
    assert ran.impact["ledger"]["state"] == "clean", ran.output
    assert ran.impact["ledger"]["acknowledged"] > 500
    assert "client orders read" in fault["longest_blackout_by_lane"]
    assert fault["scopes"]["orders"]["longest_blackout"] > 0
    assert ran.directory is not None
    clients = json.loads((ran.directory / "generator.json").read_text())["driver_settings"]
    assert clients["clients"]["orders"]["name"] == "psycopg"


@pytest.mark.matrix
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("cluster", "program"),
    [
        pytest.param("lab-postgresql", ["postgresql.py"], id="psycopg"),
        pytest.param("lab-postgresql", ["sqlalchemy_asyncpg.py"], id="sqlalchemy"),
        pytest.param(
            "lab-postgresql", ["entry.py", sys.executable, "sqlalchemy_asyncpg.py"], id="entry"
        ),
        pytest.param("lab-redis", ["redis_cluster.py"], id="redis-py"),
        pytest.param("lab-mongodb", ["mongodb.py"], id="pymongo"),
    ],
)
def test_a_ready_client_keeps_every_rule_on_a_real_cluster(
    brownout: Brownout, cluster: str, program: list[str]
) -> None:
    command = [CLIENTS / word if word.endswith(".py") else word for word in program]
    said = brownout("client", "check", "--cluster", cluster, "--", sys.executable, *command)
    assert said.code == 0, said.out + said.err
    assert "✓ a write whose server hangs is in doubt" in said.out


@pytest.mark.matrix
@pytest.mark.timeout(300)
def test_the_client_of_node_postgres_keeps_every_rule(brownout: Brownout, tmp_path: Path) -> None:
    program = shutil.copy(CLIENTS / "node_pg.mjs", tmp_path)
    subprocess.run(["npm", "install", "--silent", "--prefix", tmp_path, "pg"], check=True)
    said = brownout("client", "check", "--cluster", "lab-postgresql", "--", "node", program)
    assert said.code == 0, said.out + said.err


@pytest.mark.matrix
@pytest.mark.timeout(300)
def test_the_client_of_database_sql_keeps_every_rule(brownout: Brownout, tmp_path: Path) -> None:
    built = tmp_path / "client"
    subprocess.run(["go", "build", "-o", built, "./infra/clients/go_pgx"], cwd=ROOT, check=True)
    said = brownout("client", "check", "--cluster", "lab-postgresql", "--", built)
    assert said.code == 0, said.out + said.err
