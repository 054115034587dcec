"""What reads returned is held against what was acknowledged, and against their guarantee."""

import json
from pathlib import Path
from typing import Any

import pytest

from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

END = {"end": True, "keys": 1, "read": 1, "sampled": False}


def lane(guarantee: str = "session", name: Any = "a:1", **more: Any) -> dict[str, Any]:
    counts = {"checked": 900, "stale": 0, "session": 0, "dirty": 0, "stale_missed": 0}
    words = {"reads": "orders", "lane": name, "guarantee": guarantee, "from": "primary"}
    return {**words, **counts, "stale_s": 0.0, **more}


STALE: dict[str, Any] = {
    "stale": 7,
    "session": 2,
    "stale_missed": 3,
    "stale_s": 1.25,
    "first_t": 31.2,
}
ONE = {"stale": "k1", "stream": "orders", "lane": "a:1", "t": 31.2, "seq": 8, "acked": 9} | {
    "age_s": 1.25
}


def key(acked: int, *unacked: tuple[int, int]) -> dict[str, Any]:
    reads = [{"seq": seq, "lane": "a:1", "n": n} for seq, n in unacked]
    in_doubt = [[seq, seq] for seq, _ in unacked]
    more = {"in_doubt": in_doubt, "failed": [], "in_doubt_n": len(unacked), "failed_n": 0}
    named = {"key": "k1", "stream": "orders", "kind": "register", "writer": "run"}
    return {**named, "acked": acked, "acked_n": acked, **more, "unacked_reads": reads}


def read(seq: int | None) -> dict[str, Any]:
    if seq is None:
        return {"read": "k1", "stream": "orders", "error": "no answer"}
    return {"read": "k1", "stream": "orders", "seq": seq, "writer": "run", "checksum_ok": True}


def ledger_of(tmp_path: Path, *lines: dict[str, Any]) -> Ledger:
    path = tmp_path / "ledger.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, END]))
    return classify(read_ledger_lines(path))


@pytest.mark.parametrize(
    ("guarantee", "against", "allowed"),
    [("linearizable", 7, 0), ("session", 2, 5), ("eventual", 0, 7)],
)
def test_only_what_the_guarantee_excludes_counts_against_it(
    guarantee: str, against: int, allowed: int, tmp_path: Path
) -> None:
    ledger = ledger_of(tmp_path, lane(guarantee, **STALE), ONE)
    assert ledger.bounds("stale_reads") == (against, against)
    assert ledger.bounds("stale_reads_allowed") == (allowed, allowed)
    assert (ledger.value("stale_age"), ledger.value("stale_writes")) == (1.25, 3)
    assert ledger.reads is not None
    assert bool(ledger.reads.against) == bool(against)
    assert ledger.reads.examples[0]["key"] == "k1"
    assert "7 stale and 0 dirty of 900 reads of orders" in ledger.detail


@pytest.mark.parametrize(
    ("seq", "dirty"),
    [(4, (3, 3)), (5, (0, 0)), (None, (0, 3))],
    ids=["an older one is there", "it is there", "not read"],
)
def test_a_read_of_what_was_never_acknowledged_is_decided_by_the_read_back(
    seq: int | None, dirty: tuple[int, int], tmp_path: Path
) -> None:
    ledger = ledger_of(tmp_path, lane("linearizable"), key(4, (5, 3)), read(seq))
    assert ledger.bounds("dirty_reads") == dirty
    assert ledger.bounds("dirty_reads_allowed") == (0, 0)
    allowed = ledger_of(tmp_path, lane("eventual"), key(4, (5, 3)), read(seq))
    assert allowed.bounds("dirty_reads") == (0, 0)
    assert allowed.bounds("dirty_reads_allowed") == dirty


def test_the_reads_of_several_generators_add_up_by_lane(tmp_path: Path) -> None:
    other = lane(**{**STALE, "stale_s": 0.5, "first_t": 30.0})
    ledger = ledger_of(tmp_path, lane(**STALE), other, lane(name="b:1"))
    assert ledger.reads is not None
    assert ledger.reads.checked == 2700
    first, second = ledger.reads.lanes
    assert (first.stale, first.session, first.stale_s, first.first_t) == (14, 4, 1.25, 30.0)
    assert (second.lane, second.stale, second.first_t) == ("b:1", 0, None)


def test_without_checked_reads_nothing_is_known(tmp_path: Path) -> None:
    assert ledger_of(tmp_path).bounds("stale_reads") is None
    assert ledger_of(tmp_path, lane(checked=0)).bounds("stale_reads") is None


@pytest.mark.parametrize(
    "damaged",
    [lane(stale="many"), lane("strict"), lane(stale_s="long"), lane(name=7), {"stale": "k1"}],
    ids=["no number", "no guarantee", "no time", "no lane", "torn"],
)
def test_a_damaged_line_is_passed_over(damaged: dict[str, Any], tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, damaged, lane())
    assert ledger.reads is not None
    assert (ledger.reads.checked, ledger.reads.examples) == (900, ())
