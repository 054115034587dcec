"""A run in Markdown says in a chat what the first screen of its report says."""

from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run
from tests.show.report.conftest import Reported

from brownout.base.errors import RunDirectoryError
from brownout.show.report.markdown import write_markdown


def test_verdict_table_and_reasons_are_there(killed: Reported) -> None:
    text = write_markdown(killed.path)
    assert text.startswith(
        "### ✓ PASS: node-kill (kill) on lab-mongodb\n\nn1 was killed: total outage for 2.8 s"
    )
    assert "| measure (deadline 1 s) | found | limit |" in text
    assert "| total outage | 2.8 s | ≤ 5 s | ✓ met |" in text
    assert "| availability (write) | 78" in text
    assert "**Why**\n\n- All 4 limits were met" in text
    assert killed.path.name in text


def test_every_row_of_the_table_has_four_cells(killed: Reported) -> None:
    rows = [line for line in write_markdown(killed.path).splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_a_stand_in_is_named_in_the_title_and_the_table(standing_in: Reported) -> None:
    text = write_markdown(standing_in.path)
    assert "(stand-in)" in text.splitlines()[0]
    assert "| measure (deadline 1 s) (stand-in) |" in text


def test_words_from_outside_do_not_break_it(tmp_path: Path) -> None:
    script = RunScript(duration_s=45.0, rate=100.0, fault_at=None, abort="<b>a|b\nc")
    text = write_markdown(build_run(tmp_path, script))
    assert "&lt;b>a\\|b c" in text


def test_a_run_without_a_fault_says_that_nothing_was_measured(tmp_path: Path) -> None:
    script = RunScript(duration_s=45.0, rate=100.0, fault_at=None, analyzed=False, limits=())
    assert "Nothing was measured." in write_markdown(build_run(tmp_path, script))


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=str(tmp_path)):
        write_markdown(tmp_path)
