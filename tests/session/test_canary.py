"""A run with a canary: it says what an application saw, and its probe can hold it to a limit."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos

from brownout.inventory.model import Cluster

pytestmark = pytest.mark.alone


def probe(figure: str, limit: float) -> dict[str, Any]:
    def python(module: str, func: str, **arguments: Any) -> dict[str, Any]:
        return {"type": "python", "module": module, "func": func, "arguments": arguments}

    tolerance = python("brownout.probes.tolerances", "at_most", value=None, limit=limit)
    return {
        "type": "probe",
        "name": f"canary-{figure}",
        "tolerance": {"type": "probe", "name": "at-most", "provider": tolerance},
        "provider": python("brownout.probes.canary", "canary", figure=figure),
    }


def test_a_run_says_what_an_application_saw_and_a_probe_holds_it_to_a_limit(
    lab_mongodb: Cluster, tmp_path: Path
) -> None:
    experiment = chaos.quick(chaos.load("stepdown"))
    probes = experiment["steady-state-hypothesis"]["probes"]
    probes += [probe("operations", 1e6), probe("slowest_s", 0.0)]
    ran = chaos.run(
        experiment, tmp_path, *chaos.GENTLY,
        "--var", "canary=rate=20,policies.retryWrites=false",
    )  # fmt: skip
    canary = ran.impact["canary"]
    assert canary["state"] == "measured", ran.output
    assert (canary["client"], canary["policies"]["retryWrites"]) == ("pymongo", False)
    assert canary["began_t"] < ran.impact["faults"][0]["effective"] < canary["ended_t"]
    assert canary["total"]["operations"] == canary["read"]["operations"] * 2

    assert f"canary (pymongo {canary['version']}): " in ran.output
    assert ran.directory is not None
    assert "What an application saw" in (ran.directory / "report.html").read_text()
    markdown = subprocess.run(
        [sys.executable, "-m", "brownout", "report", str(ran.directory), "--markdown"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "- canary (pymongo" in markdown.stdout

    answers = {
        each["activity"]["name"]: each
        for each in ran.journal["steady_states"]["after"]["probes"]
    }  # fmt: skip
    assert answers["canary-operations"]["tolerance_met"] is True
    assert answers["canary-slowest_s"]["tolerance_met"] is False
    assert ran.code == 1  # the user's own limit, which is no part of the verdict
    assert "canary" not in json.dumps(ran.impact["reasons"])
