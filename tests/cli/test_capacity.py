"""`brownout capacity`, `fill` and `trend` on a real replica set."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout, set_each

NAMESPACE = "brownout_capacity"
SMALL = f"data.keys=500,streams.orders.ledger_keys=400,namespace={NAMESPACE}"
#: Far from what any machine breaks.
EASY = ("--sla", "lookups.read.p50=900ms", "--sla", "orders.write.p50=900ms", *set_each(SMALL))
SHORT = ("--step", "2s", "--final", "2s", "--settle", "1s")


@pytest.mark.matrix
@pytest.mark.quiet
def test_a_rate_that_holds_at_the_ceiling_is_a_lower_bound_and_is_kept(
    database: Any, brownout: Brownout, home: Path
) -> None:
    said = brownout("capacity", "lab", *EASY, *SHORT, "--start", "60", "--max", "60", "--json")
    result = json.loads(said.out)
    (place,) = (home / "runs").iterdir()
    kept = json.loads((place / "capacity.json").read_text())
    assert kept == result
    assert [step["kind"] for step in result["steps"]][-1] == "confirm", said.err
    assert (result["capacity"]["rate"], result["capacity"]["bound"]) == (60, "at least")
    assert said.code == 2
    assert "trying 60/s" in said.err
    again = brownout("capacity", "--resume", place)  # complete: nothing is measured again
    assert again.code == 2
    assert "at least 60/s" in again.out
    assert len((place / "steps.ndjson").read_text().splitlines()) == len(result["steps"])
    assert "<svg" in (place / "capacity.html").read_text()


def test_a_search_that_is_told_to_end_keeps_what_was_measured_and_says_how_to_go_on(
    database: Any, home: Path
) -> None:
    command = [sys.executable, "-m", "brownout", "capacity", "lab", *EASY, *SHORT,
               "--start", "20", "--factor", "1.1"]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home,
        env={**os.environ}, process_group=0,
    ) as search:  # fmt: skip
        assert search.stderr is not None
        for line in search.stderr:
            if line.startswith("  1 "):
                break
        search.terminate()  # what is started in the background may be deaf to a Ctrl-C
        out, err = search.communicate(timeout=60)
    assert search.returncode == 3, err
    assert "cut short: interrupted" in out
    (place,) = (home / "runs").iterdir()
    kept = json.loads((place / "capacity.json").read_text())
    assert [step["rate"] for step in kept["steps"]] == [20]
    assert not kept["capacity"]["confirmed"]


@pytest.mark.matrix
def test_a_fill_that_was_killed_goes_on_and_a_complete_one_is_only_counted(
    database: Any, brownout: Brownout, home: Path
) -> None:
    own = f"namespace={NAMESPACE},streams.orders.ledger_keys=10,data.load_concurrency=1"
    fill = ["fill", "lab", "--records", "150000", "--set", own]
    with subprocess.Popen(
        [sys.executable, "-m", "brownout", *fill], cwd=home, process_group=0,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as killed:  # fmt: skip
        done = _await_filled(database)
        os.killpg(killed.pid, signal.SIGKILL)
    assert 0 < done < 150_000
    first = database.data.find_one({}, sort=[("_id", 1)])
    said = brownout(*fill)
    assert said.code == 0, said.err
    assert "150,010 records are there, counted at the database" in said.out
    assert database.data.count_documents({}) == 150_000
    assert database.data.find_one({"_id": first["_id"]}) == first  # it was not written again
    whole = list(database.data.find().limit(3))
    assert brownout(*fill).code == 0
    assert list(database.data.find().limit(3)) == whole


def _await_filled(database: Any) -> int:
    """Wait until the marker says that something is there for good; return how much."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        mark = database.meta.find_one({"_id": "brownout"}) or {}
        if done := int((mark.get("filling") or {}).get("done", 0)):
            return done
        time.sleep(0.05)
    raise AssertionError("the fill does not say how far it is")


def test_a_load_over_time_has_the_size_of_the_data_beside_it(
    database: Any, brownout: Brownout, home: Path
) -> None:
    assert brownout("load", "lab", "--for", "4s", *set_each(SMALL)).code == 0
    (place,) = (home / "runs").iterdir()
    said = brownout("trend", place, "--every", "1s", "--json")
    assert said.code == 0, said.err
    rows = json.loads(said.out)["intervals"]
    assert len(rows) >= 3
    sizes = [row["records"] for row in rows if row["records"] is not None]
    # Three members, each with 500 records, 400 of the ledger, one that marks them as brownout's and
    # the claim of this load.
    # One of the secondaries may be behind: on a busy machine for all of the load.
    assert 901 <= sizes[0] <= sizes[-1] <= 3 * 902
    assert sizes[-1] >= 2 * 902
    assert brownout("trend", place, "--every", "1h").code == 64
    assert brownout("trend", home).code == 64


@pytest.mark.matrix
@pytest.mark.quiet
@pytest.mark.timeout(500)
def test_a_search_with_a_fault_leaves_the_cluster_whole(
    database: Any, brownout: Brownout, home: Path
) -> None:
    # As a process: `chaos run` below it writes to its stderr.
    command = [sys.executable, "-m", "brownout", "capacity", "lab", *EASY, *SHORT, "--json",
               "--start", "100", "--max", "100", "--with-fault", "node-kill", "--down", "9s",
               "--allowance", "12s", "--set", "baseline_s=10"]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, cwd=home, check=False)
    assert ran.stdout, ran.stderr
    result = json.loads(ran.stdout)
    faulted = [step for step in result["steps"] if step["phase"] == "faulted"]
    assert faulted, ran.stderr
    judged = [step for step in faulted if step["verdict"] != "limited"]
    assert judged, ran.stderr
    assert all(step["detail"]["judged_s"]["down"] >= 3 for step in judged)
    assert all(step["detail"]["out_s"]["orders"] > 0.5 for step in judged)  # the election
    assert result["ratio"] is None  # neither is known from above
    assert brownout("heal").out.startswith("nothing to heal")
