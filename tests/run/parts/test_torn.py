"""What one generator's files lack is found, though the sum of all does not show it."""

import json
import shutil
from pathlib import Path

import pytest
from tests.run.parts.test_merge import facts
from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.run.parts.paths import part_directories

FILES = ("series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "latency.hlog", "generator.csv",
         "generator.json")  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = build_run(tmp_path, RunScript(rate=200.0, duration_s=45.0))
    for part in part_directories(path, 2):
        part.mkdir(parents=True)
        for name in FILES:
            shutil.copy(path / name, part / name)
    (path / "parts.json").write_text(json.dumps(facts()))
    return path


def files_whole(run: Path) -> tuple[bool, str]:
    (condition,) = [c for c in analyze(run).validity if c.name == "files_whole"]
    return condition.ok is True, condition.detail


def test_whole_parts_are_whole(run: Path) -> None:
    assert files_whole(run) == (True, "every raw file goes to the end of the run")


def test_a_latency_log_that_one_generator_lacks_the_end_of_is_found(run: Path) -> None:
    path = run / "parts" / "1" / "latency.hlog"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    ok, detail = files_whole(run)
    assert not ok
    assert detail.startswith("parts/1/latency.hlog ends at ")


def test_a_file_of_a_part_that_ends_in_the_middle_of_a_line_is_found(run: Path) -> None:
    path = run / "parts" / "0" / "lanes.csv"
    path.write_bytes(path.read_bytes()[:-3])
    assert files_whole(run) == (False, "parts/0/lanes.csv ends in the middle of a line")
