"""The table says what noise allows to be told, and what a control window showed."""

from pathlib import Path

from tests.run_builder import RunScript, build_run

from brownout.judge.analysis import analyze
from brownout.run.events import EventLog
from brownout.show.report.table import render


def test_the_table_says_what_cannot_be_told_from_none_and_what_was_seen_without_a_fault(
    tmp_path: Path,
) -> None:
    script = RunScript(fault_at=45.35, start_at=49.0, rejoined_at=52.0, redundant_at=53.0,
                       duration_s=80.0)  # fmt: skip
    run = build_run(tmp_path, script)
    now = 23.0
    log = EventLog(run / "events.ndjson", lambda: now)
    entry = log.intent("sham", "control_window")
    log.effective(entry, None)
    log.ended(entry, 43.0)
    impact = analyze(run)
    text = render(impact, str(run))
    assert impact.shams[0].false_alarm is False
    assert "\ncontrol window of 20 s without a fault: drop 0." in text
    assert " %), no dip, 0 operations lost\n" in text
    assert "throughput drops below " in text
    assert impact.faults[0].number("tps_drop") == 1.0
