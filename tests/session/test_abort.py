"""A run that is stopped in mid-fault ends its load and puts everything back within seconds."""

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.forked_run import brownout
from tests.waiting import await_true

from brownout.databases.adapter import adapter_for
from brownout.inventory.model import Cluster


def _hanging() -> dict[str, Any]:
    """An experiment that would leave the primary frozen for ten minutes."""
    experiment = chaos.quick(chaos.load("node-pause"))
    experiment["configuration"].update(hang_s=600, undo_after_s=900)
    return experiment


def _await(where: Path, words: str) -> None:
    events = "runs/*/events.ndjson"
    await_true(lambda: any(words in path.read_text() for path in where.glob(events)), words)


def _whole_after(cluster: Cluster) -> float:
    """Seconds from now until the cluster is whole."""
    adapter = adapter_for(cluster)
    began = time.monotonic()
    try:
        await_true(lambda: adapter.stable("whole").reached, "a whole cluster", 60)
        return time.monotonic() - began
    finally:
        adapter.close()


def _check_put_back(ran: chaos.Ran, reason: str) -> list[dict[str, Any]]:
    assert ran.code != 0
    (abort,) = [event for event in ran.events if event["type"] == "abort"]
    assert reason in abort["reason"]
    assert any(reason in text for text in ran.impact["reasons"])
    assert ran.impact["verdict"] in ("aborted", "inconclusive", "fail")
    mends = [event for event in ran.events if event["name"] == "resume_node"]
    assert {"intent", "effective", "ended"} <= {event["stage"] for event in mends}
    return [abort, mends[-1]]


def test_availability_under_its_bound_ends_a_hang_that_nobody_else_would_end(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = _hanging()
    experiment["configuration"]["abort_if"] = [{"availability_below": 0.1, "for_s": 1.5}]
    process = chaos.start(experiment, tmp_path)
    _await(tmp_path, '"abort"')
    print(f"whole {_whole_after(lab_mongodb):.2f} s after the breach")  # pytest -rP shows it
    ran = chaos.finish(process, tmp_path, timeout_s=90)
    breach, mended = _check_put_back(ran, "availability")
    seconds = [datetime.fromisoformat(event["wall"]).timestamp() for event in (breach, mended)]
    assert seconds[1] - seconds[0] < 30  # it is about one; the machine may be busy


def test_brownout_abort_from_another_shell_ends_the_run(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    environment = {"BROWNOUT_STATE": str(tmp_path / "state")}
    process = chaos.start(_hanging(), tmp_path, env=environment)
    _await(tmp_path, '"effective"')
    told = brownout("abort", "--reason", "the pager rang", env=environment)
    assert "told" in told.stdout, told.stderr
    ran = chaos.finish(process, tmp_path, timeout_s=90)
    _check_put_back(ran, "the pager rang")
    _whole_after(lab_mongodb)


@pytest.mark.matrix  # in CI: tests/faults/test_every_act.py
def test_no_break_begins_in_the_background_once_the_run_is_ending(
    lab_etcd: Cluster, tmp_path: Path
) -> None:
    environment = {"BROWNOUT_STATE": str(tmp_path / "state")}
    experiment = chaos.quick(chaos.load("node-pause"))
    experiment["configuration"].update(cluster=lab_etcd.name, hang_s=600, undo_after_s=900)
    kill = {
        "type": "action",
        "name": "kill-later",
        "background": True,
        "pauses": {"before": 20},
        "provider": {
            "type": "python",
            "module": "brownout.actions.node",
            "func": "kill_node",
        },
    }
    script = {**kill, "name": "theirs-later", "provider": {"type": "process", "path": "true"}}
    experiment["extensions"][0]["breaks"] = ["theirs-later"]
    experiment["method"] = [kill, script, *experiment["method"]]
    process = chaos.start(experiment, tmp_path, env=environment)
    _await(tmp_path, '"effective"')
    brownout("abort", "--reason", "the pager rang", env=environment)
    ran = chaos.finish(process, tmp_path, timeout_s=120)
    assert ran.impact["reasons"], ran.output
    kinds = [(event["type"], event["stage"]) for event in ran.events]
    aborted = kinds.index(("abort", "point"))
    assert ("break", "intent") in kinds[:aborted]
    assert ("break", "intent") not in kinds[aborted:]
    _whole_after(lab_etcd)


@pytest.mark.matrix  # in CI Chaos Toolkit is told to exit as a safeguard does (test_ended_run)
def test_a_safeguard_of_chaostoolkit_addons_aborts_the_run_too(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = _hanging()
    (tmp_path / "trip").write_text("")
    experiment["controls"].append(
        {
            "name": "safeguards",
            "provider": {
                "type": "python",
                "module": "chaosaddons.controls.safeguards",
                "arguments": {
                    "probes": [
                        {
                            "type": "probe",
                            "name": "nobody-tripped",
                            "frequency": 1,
                            "tolerance": {"type": "regex", "pattern": "^$", "target": "stdout"},
                            "provider": {
                                "type": "process",
                                "path": "cat",
                                "arguments": str(tmp_path / "trip"),
                            },
                        }
                    ]
                },
            },
        }
    )
    process = chaos.start(experiment, tmp_path)
    _await(tmp_path, '"pause_node"')
    (tmp_path / "trip").write_text("tripped")
    ran = chaos.finish(process, tmp_path, timeout_s=90)
    assert ran.code != 0
    assert json.dumps(ran.impact["reasons"]).count("aborted")
    _whole_after(lab_mongodb)
