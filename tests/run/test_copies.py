"""What every server has stored itself is compared; what was not read may be alike or not."""

import json
from pathlib import Path
from typing import Any

import pytest

from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

END = {"end": True, "keys": 0, "read": 0, "sampled": False}


def compared(**more: Any) -> dict[str, Any]:
    sums = {"keys": 2400, "compared": 2400, "alone": 0, "diverged": 0, "unread": 0}
    return {"copies": "compared", "servers": ["b:1", "a:1"], **sums, **more}


DIFFERS = {"diverged": "k07", "copies": {"b:1": "missing", "a:1": "sequence 1 of run-1"}}


def ledger_of(tmp_path: Path, *lines: dict[str, Any]) -> Ledger:
    path = tmp_path / "ledger.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, END]))
    return classify(read_ledger_lines(path))


def test_copies_that_are_alike_are_said_with_what_was_compared(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, compared())
    assert ledger.copies is not None
    assert ledger.bounds("diverged_copies") == (0, 0)
    assert ledger.copies.words == "the copies of 2,400 keys on 2 servers are alike"
    assert ledger.detail.endswith(ledger.copies.words)


def test_copies_that_differ_are_counted_and_one_is_shown(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, DIFFERS, compared(diverged=40))
    assert ledger.copies is not None
    assert ledger.bounds("diverged_copies") == (40, 40)
    assert ledger.copies.words == (
        "the copies of 40 of 2,400 keys on 2 servers differ; "
        "k07: sequence 1 of run-1 on a:1; missing on b:1"
    )


def test_keys_that_a_server_did_not_answer_may_differ(tmp_path: Path) -> None:
    silent = compared(compared=0, unread=2400, error="a:1: connection refused")
    ledger = ledger_of(tmp_path, silent)
    assert ledger.bounds("diverged_copies") is None
    part = ledger_of(tmp_path, compared(compared=2300, unread=100, error="a:1: no answer"))
    assert part.bounds("diverged_copies") == (0, 100)
    assert part.copies is not None
    assert part.copies.words.endswith("100 keys could not be compared (a:1: no answer)")
    one = compared(compared=2399, unread=1, error="a:1: no answer")
    single = ledger_of(tmp_path, one).copies
    assert single is not None
    assert single.words.endswith("1 key could not be compared (a:1: no answer)")


def test_no_more_keys_can_differ_than_there_are(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, DIFFERS, compared(diverged=1400, unread=2000, error="a:1: gone"))
    assert ledger.bounds("diverged_copies") == (1400, 2400)


@pytest.mark.parametrize(
    ("alone", "words"),
    [
        (1, "1 key is stored on one server only"),
        (1400, "1,400 keys are stored on one server only"),
    ],
)
def test_keys_with_one_copy_are_counted_in_words(alone: int, words: str, tmp_path: Path) -> None:
    copies = ledger_of(tmp_path, compared(compared=2400 - alone, alone=alone)).copies
    assert copies is not None
    assert copies.words.endswith(f"; {words}")


def test_the_shares_of_several_generators_are_one_comparison(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, compared(diverged=1), DIFFERS, compared(servers=["a:1", "c:1"]))
    assert ledger.copies is not None
    assert (ledger.copies.keys, ledger.copies.diverged) == (4800, 1)
    assert ledger.copies.servers == ("a:1", "b:1", "c:1")


def test_a_run_that_did_not_compare_them_says_nothing(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    assert ledger.copies is None
    assert ledger.bounds("diverged_copies") is None


@pytest.mark.parametrize(
    "damaged",
    [
        compared(diverged="many"),
        compared(servers="a:1"),
        {"copies": "compared", "servers": []},
        {"diverged": "k07", "copies": ["a:1"]},
        {"diverged": 7, "copies": {}},
    ],
    ids=["no number", "no list", "torn", "no servers", "no key"],
)
def test_a_damaged_line_is_passed_over(damaged: dict[str, Any], tmp_path: Path) -> None:
    assert ledger_of(tmp_path, damaged).copies is None
