"""`brownout load`, `clean` and `lab` on a real cluster."""

import json
import re
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.cli.conftest import Brownout, set_each

from brownout.cli.load import words_of
from brownout.inventory.model import Cluster
from brownout.load.session import LoadResult
from brownout.observe import targets

SMALL = (
    "data.keys=500,streams.orders.ledger_keys=200,streams.lookups.rate=60,streams.orders.rate=40"
)
NAMESPACE = "brownout_cli"
OURS = f"{SMALL},namespace={NAMESPACE}"


def test_a_load_says_what_came_of_it_and_keeps_the_raw_files(
    database: Any, brownout: Brownout, home: Path
) -> None:
    said = brownout("load", "lab", "--for", "2s", *set_each(OURS), "--seed", "7")
    assert said.code == 0, said.err
    offered = re.search(r"offered (\d+) in (\d\.\d) s: (\d+) ok", said.out)
    assert offered
    assert int(offered[1]) == pytest.approx(200, abs=60)
    assert "ledger: 200 of 200 keys read back" in said.out
    assert re.search(r"response p50 [\d.]+ ms, p99 [\d.]+ ms; scheduling lag p99", said.out)
    (run,) = (home / "runs").iterdir()
    assert run.name.endswith("-load-7")
    assert json.loads((run / "generator.json").read_text())["ended"] is True
    assert f"namespace={NAMESPACE}" in said.out  # what is left, and how to remove it
    assert database.list_collection_names()


def test_a_load_shows_its_metrics_while_it_lasts(
    database: Any, brownout: Brownout, home: Path
) -> None:
    seen: list[str] = []

    def scrape() -> None:
        while not any("brownout_operations_total{" in page for page in seen):
            for run in targets.running():
                with suppress(OSError):
                    seen.append(urlopen(f"http://{run.address}/metrics", timeout=5).read().decode())
            time.sleep(0.05)

    scraping = threading.Thread(target=scrape, daemon=True)
    scraping.start()
    said = brownout("load", "lab", "--for", "2s", *set_each(OURS))
    assert said.code == 0, said.err
    scraping.join(5)
    (run,) = (home / "runs").iterdir()
    (ok,) = [line for line in seen[-1].splitlines()
             if line.startswith("brownout_operations_total{") and 'op="update"' in line
             and 'outcome="ok"' in line]  # fmt: skip
    for label in (f'run="{run.name}"', 'experiment="load"', 'stand_in="false"', "mongod"):
        assert label in ok
    assert re.search(r"metrics: http://127\.0\.0\.1:\d+/metrics", said.err)
    assert list(targets.running()) == []


def test_what_a_load_wrote_is_removed_and_nothing_else(database: Any, brownout: Brownout) -> None:
    assert brownout("load", "lab", "--for", "1s", *set_each(OURS)).code == 0
    database.mine.insert_one({"_id": 1})
    said = brownout("clean", "--workload", "lab", *set_each(OURS))
    assert said.code == 0, said.err
    assert database.list_collection_names() == ["mine"]


def test_a_load_may_leave_nothing(database: Any, brownout: Brownout) -> None:
    assert brownout("load", "lab", "--for", "1s", *set_each(OURS), "--clean").code == 0
    assert database.list_collection_names() == []


def test_a_database_of_somebody_elses_is_refused(database: Any, brownout: Brownout) -> None:
    database.orders.insert_one({"_id": 1})
    said = brownout("load", "lab", "--for", "1s", *set_each(OURS))
    assert said.code != 0
    assert "not made by brownout" in said.err
    assert database.list_collection_names() == ["orders"]


def test_a_load_of_nothing_known_is_bad_input(brownout: Brownout, home: Path) -> None:
    for arguments in (("no-such-load",), ("lab", "--cluster", "atlantis"), ("lab", "--for", "x")):
        said = brownout("load", *arguments)
        assert said.code == 64
        assert arguments[-1] in said.err
    assert not (home / "runs").exists()


def test_the_lab_says_how_it_is(
    lab_mongodb: Cluster, brownout: Brownout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    up = brownout("lab", "status")
    assert up.code == 0
    assert "PRIMARY" in up.out
    logs = brownout("lab", "logs", "--node", "n1", "--lines", "3")
    assert len(logs.out.splitlines()) == 4
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    down = brownout("lab", "status")
    assert (down.code, "is down" in down.out) == (1, True)
    assert brownout("lab", "down").code == 0
    none = brownout("clean")
    assert (none.code, "brownout lab up" in none.err) == (2, True)


def test_a_load_that_is_not_carried_is_said_to_be_too_much(tmp_path: Path) -> None:
    stopped = {"offered": 1000, "end_t": 1.0, "ok": 400, "late": 600, "failed": 0, "in_doubt": 0,
               "shed": 0, "missed": 0, "lag_p99_ms": 1.0}  # fmt: skip
    words = words_of(LoadResult(stopped, None, interrupted=False), tmp_path)
    assert "only 40.0% were ok" in words
    fine = words_of(LoadResult({**stopped, "ok": 1000, "late": 0}, None, False), tmp_path)
    assert "only" not in fine
