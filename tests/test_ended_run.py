"""Whatever ends a run, its cause is named, and Chaos Toolkit's words agree with the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import forked_run

ENDED = Path(__file__).with_name("ended_run.py")
SAFEGUARD = "Chaos Toolkit was told to exit (SIGUSR1), by a safeguard or another control"


def ended(how: str, where: Path) -> tuple[dict[str, Any], str]:
    """Let a run end like that; return the end of its journal, and its log."""
    done = forked_run.run([str(ENDED), how, str(where)], cwd=where, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found, done.stderr + done.stdout


@pytest.mark.parametrize(
    ("how", "word", "cause"),
    [
        ("ctrl_c", "aborted", "stopped by Ctrl-C"),
        ("ctrl_c_while_opening", "aborted", "stopped by Ctrl-C"),
        ("sigterm", "aborted", "stopped by SIGTERM"),
        ("lost_in_a_finalizer", "aborted", "stopped by SIGTERM"),
        ("lost_in_a_log", "aborted", "stopped by SIGTERM"),
        ("stop_condition", "aborted", "stop condition: the file {}/stop is there"),
        ("safeguard", "aborted", SAFEGUARD),
        ("opening_raises", "inconclusive", "an error of brownout: TypeError: our own mistake"),
        ("an_action_raises", "inconclusive",
         "action `nap` failed: TypeError: '5' is no number"),
        ("chaos_toolkit_raises", "inconclusive",
         "Chaos Toolkit stopped for an error: ActivityFailed: could not find referenced activity "
         "'nobody'"),
    ],
)  # fmt: skip
def test_a_run_that_ended_early_names_who_or_what_ended_it(
    how: str, word: str, cause: str, tmp_path: Path
) -> None:
    found, log = ended(how, tmp_path)
    reason = cause.format(tmp_path)
    assert found["brownout"] == {"verdict": word, "reasons": [reason]}
    assert found["events"] == [["abort" if word == "aborted" else "note", reason]]
    assert found["status"] in ("interrupted", "aborted")
    assert f"(brownout: {word})" in log
    assert "weakness" not in log


def test_a_secret_of_the_experiment_is_in_no_part_of_the_journal_and_in_no_line_of_the_log(
    tmp_path: Path,
) -> None:
    found, log = ended("an_address_with_a_secret", tmp_path)
    assert "no answer from http://h/health?k=***" in log
    assert [form for form in ("in clear/7", "in%20clear%2F7") if form in log] == []
    assert "in clear/7" not in json.dumps(found)


def test_an_action_may_take_its_time_to_clean_up(tmp_path: Path) -> None:
    found, _ = ended("slow_to_clean_up", tmp_path)
    assert found["brownout"] == {"verdict": "aborted", "reasons": ["stopped by SIGTERM"]}
    assert (tmp_path / "cleaned").exists()


@pytest.mark.parametrize(
    ("word", "said"), [("fail", True), ("pass", True), ("inconclusive", False), ("aborted", False)]
)
def test_a_weakness_is_spoken_of_only_where_the_verdict_allows_it(
    word: str, said: bool, tmp_path: Path
) -> None:
    found, log = ended(f"deviates_{word}", tmp_path)
    assert found["deviated"] is said
    assert ("a weakness may have been discovered" in log) is said
    assert log.count("Experiment ended with status:") == 1
    assert f"{'deviated' if said else 'failed'} (brownout: {word})" in log
    assert "is not in the given tolerance" in log
    assert "so failing this experiment" not in log
