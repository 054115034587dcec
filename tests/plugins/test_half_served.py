"""A stranger's measure: one row and one function of another package, found by its entry point.

Nothing of brownout is changed for it. It is measured on a recorded run.
"""

import json
import re
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked_run

from brownout.judge.analysis import analyze
from brownout.measure import Measure, RunData, View

PACKAGE = Path(__file__).parent / "half_served"
RECORDING = Path(__file__).parents[1] / "data" / "runs" / "mongodb-node-wipe-pass.tar.xz"
NAME, LABEL = "half_served_time", "less than half served"
LIMIT = {"measure": NAME, "limit": 4.0, "scope": "write", "limit_from": "its owner", "why": "test"}


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
    assert f'classname="limit" name="write.{NAME}"' in junit.read_text()

    listed = brownout("list", "measures", path=installed)
    about = f"{LABEL}, s, less is better: https://example.org/half-served"
    assert re.search(rf"^{NAME} +{about}$", listed, re.MULTILINE), listed


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

    broken = Measure(name=NAME, unit="s", label=LABEL, of=fails)
    monkeypatch.setattr(sys.modules["brownout.measure.assess"], "added", lambda: [broken])

    impact = analyze(run)

    met = {slo.name: slo.met for slo in impact.slos}
    assert met.pop(NAME) is None
    assert set(met.values()) == {True}
    assert impact.verdict == "inconclusive"
    said = "its function failed: ZeroDivisionError: no reads"
    assert f"{NAME} is not measured: {said}" in caplog.text
