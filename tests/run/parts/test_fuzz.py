"""Whatever became of a part's files, a run is made of them or refused in words."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import VALUES, answers, changed, damaged, fuzzed
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.run.parts.paths import part_directories

FILES = ("series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "latency.hlog", "generator.csv",
         "generator.json", "ledger.ndjson")  # fmt: skip
PART = {"where": "a", "late_s": 0.001, "start_s": 0.0, "start_uncertainty_s": 0.0, "end_s": 0.0,
        "end_uncertainty_s": 0.0, "lost": None, "lost_t": None}  # fmt: skip
FACTS = {"of": 2, "parts": [{**PART, "index": 0}, {**PART, "index": 1}]}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = RunScript(rate=20, duration_s=4, fault_at=2.0, outage_s=0.5, start_at=2.6,
                       rejoined_at=3.0, redundant_at=3.2)  # fmt: skip
    run = build_run(tmp_path_factory.mktemp("several"), script)
    for part in part_directories(run, 2):
        part.mkdir(parents=True)
        for name in FILES:
            shutil.copy(run / name, part / name)
    (run / "parts" / "1" / "ledger.ndjson").unlink()  # both would own the same keys
    (run / "parts.json").write_text(json.dumps(FACTS))
    return run


def _some(path: Path) -> bytes:
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(lines[:30] + lines[-30:])


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_of_a_part_is_added_or_refused(
    several: Path, tmp_path: Path, name: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(several, run)

    @fuzzed(8)
    @given(damaged(_some(several / "parts" / "0" / name)))
    def check(data: bytes) -> None:
        (run / "parts" / "0" / name).write_bytes(data)
        found = answers(lambda: analyze(run))
        assert found is None or found.verdict != "pass" or name != "ledger.ndjson"

    check()


@pytest.mark.parametrize("name", ["parts.json", "parts/0/generator.json"])
def test_other_json_than_wanted_is_judged_or_refused(
    several: Path, tmp_path: Path, name: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(several, run)
    document = json.loads((several / name).read_text())

    @fuzzed(20)
    @given(st.one_of(changed(document), VALUES))
    def check(odd: Any) -> None:
        (run / name).write_text(json.dumps(odd))
        answers(lambda: analyze(run))

    check()


def test_a_part_without_any_file_leaves_nothing_to_judge(several: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(several, run)
    shutil.rmtree(run / "parts" / "1")
    impact = analyze(run)
    assert impact.verdict == "inconclusive"
    assert impact.load.offered == 0
