"""A run's files, whatever is in them, are read or refused in words; damage is no reason to pass."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import VALUES, answers, changed, damaged, fuzzed
from tests.run_builder import RunScript, build_run

from brownout.faults import undos
from brownout.judge.analysis import analyze
from brownout.measure.document import read_impact
from brownout.run.balance import HEADER, Holding, balance_lines, read_balance
from brownout.run.csvfile import read_rows
from brownout.run.directory import RunDirectory
from brownout.run.events import read_events
from brownout.run.lanes import read_lanes
from brownout.run.latency import read_hlog
from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.metadata import read_json
from brownout.run.series import identity_violations, read_series
from brownout.show.report import html
from brownout.show.report.table import render

SMALL = RunScript(rate=20, duration_s=4, fault_at=2.0, outage_s=0.5, start_at=2.6,
                  rejoined_at=3.0, redundant_at=3.2)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = build_run(tmp_path_factory.mktemp("small"), SMALL)
    held = {"n1": Holding(1000, 1_000_000, 12, 0), "n4": Holding(3, 42, None, None)}
    looks = "".join(balance_lines(float(t), held) for t in range(4))
    (run / "balance.csv").write_text(",".join(HEADER) + "\n" + looks)
    return run


def _events(path: Path) -> Any:
    found = read_events(path)
    return undos.left(found)


def _latency(path: Path) -> Any:
    log = read_hlog(path, lambda _: True)
    return log.between(log.tags, 0, 10), log.seconds(log.tags, 0, 10), log.percentiles(
        log.tags, 10, (0.5, 0.99)
    )  # fmt: skip


READERS: dict[str, Callable[[Path], Any]] = {
    "series.csv": lambda path: identity_violations(read_series(path.parent)),
    "outcomes.csv": lambda path: read_series(path.parent).outcomes.total("total", "ok"),
    "errors.csv": lambda path: list(read_rows(path, ("t", "stream", "op", "cause", "code", "n"))),
    "lanes.csv": read_lanes,
    "latency.hlog": _latency,
    "events.ndjson": _events,
    "ledger.ndjson": lambda path: classify(read_ledger_lines(path)),
    "run.json": read_json,
    "balance.csv": read_balance,
}


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused(small: Path, tmp_path: Path, name: str) -> None:
    @fuzzed()
    @given(damaged(_some(small / name)))
    def check(data: bytes) -> None:
        (tmp_path / name).write_bytes(data)
        answers(lambda: READERS[name](tmp_path / name))

    check()


def _some(path: Path) -> bytes:
    """The beginning and the end of a file: damage is to hit every kind of line."""
    data = path.read_bytes()
    if len(data) < 6000:
        return data
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:30] + lines[-30:])


@pytest.mark.parametrize("name", ["events.ndjson", "ledger.ndjson"])
def test_lines_that_are_json_and_not_what_is_wanted_are_read_or_refused(
    small: Path, tmp_path: Path, name: str
) -> None:
    lines = [json.loads(line) for line in (small / name).read_text().splitlines()]
    chosen = st.sampled_from(lines).flatmap(changed)

    @fuzzed()
    @given(st.lists(chosen, min_size=1, max_size=3), st.integers(0, len(lines)))
    def check(odd: list[Any], at: int) -> None:
        mixed = [*lines[:at], *odd, *lines[at:]]
        (tmp_path / name).write_text("\n".join(map(json.dumps, mixed)) + "\n")
        answers(lambda: READERS[name](tmp_path / name))

    check()


@pytest.mark.parametrize("name", [*READERS, "generator.csv", "generator.json", "journal.json"])
def test_a_run_with_a_damaged_file_is_judged_and_reported_or_refused(
    small: Path, tmp_path: Path, name: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)

    @fuzzed(8)
    @given(damaged(_some(small / name)))
    def check(data: bytes) -> None:
        (run / name).write_bytes(data)
        (run / "impact.json").unlink(missing_ok=True)
        found = answers(lambda: analyze(run))
        assert found is None or found.verdict in ("pass", "fail", "inconclusive", "aborted")
        answers(lambda: html.write(run))

    check()


@pytest.mark.parametrize("name", ["run.json", "generator.json"])
def test_a_run_with_other_json_than_wanted_is_judged_or_refused(
    small: Path, tmp_path: Path, name: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)
    document = json.loads((small / name).read_text())

    @fuzzed(12)
    @given(st.one_of(changed(document), VALUES))
    def check(odd: Any) -> None:
        (run / name).write_text(json.dumps(odd))
        answers(lambda: analyze(run))

    check()


def test_a_damaged_impact_is_shown_and_reported_or_refused(small: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(small, run)
    document = json.loads((small / "impact.json").read_text())

    @fuzzed(30)
    @given(st.one_of(changed(document), VALUES))
    def check(odd: Any) -> None:
        (run / "impact.json").write_text(json.dumps(odd))
        answers(lambda: render(read_impact(RunDirectory.open(run)), "run"))
        answers(lambda: html.write(run))

    check()
