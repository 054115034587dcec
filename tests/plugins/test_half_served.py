"""A stranger's measure: one row and one function of another package, found by its entry point.

Nothing of brownout is changed for it. It is measured on a recorded run.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked_run

from brownout.judge.analysis import analyze
from brownout.measure import Measure, RunData, View
from brownout.measure.unit import SECONDS

ROOT = Path(__file__).parents[2]
PACKAGE = Path(__file__).parent / "half_served"
RECORDING = Path(__file__).parents[1] / "data" / "runs" / "mongodb-node-wipe-pass.tar.xz"
NAME, LABEL = "half_served_time", "less than half served"
LIMIT = {"measure": NAME, "limit": 4.0, "scope": "write", "limit_from": "its owner", "why": "test"}


#: Prints the metrics of the run whose directory it is given.
METRICS = """
import sys
from pathlib import Path
from tests.observe.test_metrics import state_of
from brownout.observe.page import Page
print(Page(lambda: state_of(Path(sys.argv[1]), judged=True), str).metrics())
"""


@pytest.fixture(scope="module")
def installed(install: Callable[[Path], Path]) -> Path:
    """Where the package is installed."""
    return install(PACKAGE)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A recorded run, with a limit on the measure of each of two scopes."""
    with tarfile.open(RECORDING) as archive:
        archive.extractall(tmp_path / "runs", filter="data")
    (run,) = (tmp_path / "runs").iterdir()
    record = json.loads((run / "run.json").read_text())
    record["limits"] += [LIMIT, {**LIMIT, "scope": "total", "limit": 0.5}]
    (run / "run.json").write_text(json.dumps(record))
    return run


def brownout(*words: str | Path, path: Path | None = None) -> str:
    env = {"PYTHONPATH": str(path)} if path else {}
    done = forked_run.brownout(*map(str, words), env=env)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def test_a_measure_of_another_package_is_in_every_table_and_can_be_limited(
    installed: Path, run: Path
) -> None:
    table = brownout("analyze", run, path=installed)
    assert re.search(rf"^{LABEL} +1\.5 s +≤ 0.5 s +NO$", table, re.MULTILINE), table
    assert re.search(rf"^{LABEL} \(write\) +\S+ s +≤ 4 s +yes$", table, re.MULTILINE), table
    impact = json.loads((run / "impact.json").read_text())
    assert impact["verdict"] == "fail"
    assert impact["faults"][0][NAME] == 1.5
    assert NAME in impact["faults"][0]["scopes"]["read"]

    brownout("report", run, path=installed)
    page = (run / "report.html").read_text()
    assert f">{LABEL}<" in page
    assert NAME in page
    assert f"| {LABEL} | 1.5 s | ≤ 0.5 s |" in brownout("report", run, "-o", "-", path=installed)

    junit = run / "junit.xml"
    gate = brownout("gate", run, "-o", junit, path=installed)
    assert f"{LABEL}" in gate
    assert f'classname="brownout.node-wipe.limit" name="write.{NAME}"' in junit.read_text()

    listed = brownout("list", "measures", path=installed)
    about = f"{LABEL}, s, less is better: https://example.org/half-served"
    assert re.search(rf"^{NAME} +{about}$", listed, re.MULTILINE), listed


def test_a_measure_in_a_unit_of_another_package_is_shown_limited_and_exported(
    installed: Path, run: Path
) -> None:
    record = json.loads((run / "run.json").read_text())
    record["limits"].append({**LIMIT, "measure": "half_served_buckets", "scope": "total"})
    (run / "run.json").write_text(json.dumps(record))

    table = brownout("analyze", run, path=installed)

    words = rf"^{LABEL}, in buckets +15 buckets +≤ 4 buckets +NO$"
    assert re.search(words, table, re.MULTILINE), table
    env = {**os.environ, "PYTHONPATH": f"{installed}:{ROOT}"}
    metrics = subprocess.run(
        [sys.executable, "-c", METRICS, run], env=env, capture_output=True, text=True, check=True
    ).stdout
    sample = r'^brownout_impact_buckets\{.*measure="half_served_buckets",.*scope="total".*\} 15.0$'
    assert re.search(sample, metrics, re.MULTILINE), metrics


def test_where_the_package_is_not_installed_its_figures_are_kept_and_shown(
    installed: Path, run: Path
) -> None:
    brownout("analyze", run, path=installed)

    shown = brownout("report", run, "-o", "-")

    assert "| half served time | 1.5 | ≤ 0.5 | ✗ not met |" in shown
    assert NAME not in brownout("list", "measures")


def test_a_function_that_fails_leaves_its_limit_open_and_all_else_judged(
    run: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(view: View, data: RunData) -> float | None:
        raise ZeroDivisionError("no reads")

    broken = Measure(name=NAME, unit=SECONDS, label=LABEL, of=fails)
    monkeypatch.setattr(sys.modules["brownout.measure.assess"], "added", lambda: [broken])

    impact = analyze(run)

    met = {slo.name: slo.met for slo in impact.slos}
    assert met.pop(NAME) is None
    assert set(met.values()) == {True}
    assert impact.verdict == "inconclusive"
    said = "its function failed: ZeroDivisionError: no reads"
    assert f"{NAME} is not measured: {said}" in caplog.text
