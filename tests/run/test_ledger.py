"""Every key ends in one class; what nobody could say is neither clean nor lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.run.ledger import Ledger, classify
from brownout.run.ledger_lines import read_ledger_lines

END = {"end": True, "keys": 1, "read": 1, "sampled": False}


def register(
    acked: int = 9, in_doubt: Any = (), failed: Any = (), name: str = "k1", **more: Any
) -> dict[str, Any]:
    others = sum(b - a + 1 for a, b in [*in_doubt, *failed] if b <= acked)
    ranges = {"in_doubt": list(in_doubt), "failed": list(failed)}
    key = {"key": name, "stream": "orders", "kind": "register", "writer": "run-1"}
    return {**key, "acked": acked, "acked_n": acked - others, **ranges, **more}


def counter(acked: int, in_doubt_n: int = 0) -> dict[str, Any]:
    return {"key": "k1", "stream": "orders", "kind": "counter", "writer": "run-1", "acked": acked,
            "acked_n": acked, "in_doubt": [], "failed": [], "in_doubt_n": in_doubt_n}  # fmt: skip


def read(seq: int = 9, name: str = "k1", **more: Any) -> dict[str, Any]:
    return {
        "read": name,
        "stream": "orders",
        "seq": seq,
        "writer": "run-1",
        "checksum_ok": True,
        **more,
    }


def value(n: int) -> dict[str, Any]:
    return {"read": "k1", "stream": "orders", "value": n}


MISSING = {"read": "k1", "stream": "orders", "missing": True}
NO_COUNTER = {"read": "k1", "stream": "orders", "checksum_ok": False}
ERROR = {"read": "k1", "stream": "orders", "error": "no primary"}


def only(found: Ledger) -> str:
    """Return the one class that the one key is in."""
    classes = ("ok", "recovered", "rolled_back_keys", "overwritten_by_late_keys", "unexpected",
               "corrupt", "unread")  # fmt: skip
    (name,) = (name for name in classes if getattr(found, name))
    return name.removesuffix("_keys")


@pytest.mark.parametrize(
    ("key", "line", "kind", "lost", "state"),
    [
        (register(), read(9), "ok", 0, "clean"),
        (register(in_doubt=[[10, 11]]), read(11), "recovered", 0, "clean"),
        (register(in_doubt=[[10, 11]]), read(9), "ok", 0, "clean"),
        (register(), read(6), "rolled_back", 3, "lost"),
        (register(in_doubt=[[7, 7]], failed=[[8, 8]]), read(6), "rolled_back", 1, "lost"),
        (register(in_doubt=[[6, 6]]), read(6), "overwritten_by_late", 3, "lost"),
        (register(failed=[[6, 6]]), read(6), "overwritten_by_late", 3, "lost"),
        (register(), MISSING, "rolled_back", 9, "lost"),
        (register(0, in_doubt=[[1, 2]]), MISSING, "ok", 0, "clean"),
        (register(0, in_doubt=[[1, 2]]), read(2), "recovered", 0, "clean"),
        (register(failed=[[10, 10]]), read(10), "unexpected", 0, "unknown"),
        (register(), read(12), "unexpected", 0, "unknown"),
        (register(), read(0), "unexpected", 0, "unknown"),
        (register(), read(9, writer="other"), "unexpected", 0, "unknown"),
        (register(), read(9, checksum_ok=False), "corrupt", 1, "lost"),
        (counter(7), NO_COUNTER, "corrupt", 1, "lost"),
        (register(), ERROR, "unread", 0, "unknown"),
        (counter(7), value(7), "ok", 0, "clean"),
        (counter(7, 2), value(9), "recovered", 0, "clean"),
        (counter(7, 2), value(10), "unexpected", 0, "unknown"),
        (counter(7, 2), value(4), "rolled_back", 3, "lost"),
        (counter(7), MISSING, "rolled_back", 7, "lost"),
        (counter(0), MISSING, "ok", 0, "clean"),
        # Coarse ranges also cover what was acknowledged; one write at least is gone.
        (register(in_doubt=[[2, 9]], acked_n=5, coarse=True), read(1), "rolled_back", 1, "lost"),
    ],
)  # fmt: skip
def test_a_key_is_in_the_class_that_what_was_read_puts_it_in(
    key: dict[str, Any], line: dict[str, Any], kind: str, lost: int, state: str
) -> None:
    found = classify([key, line, END])
    assert only(found) == kind
    assert (found.lost, found.state, found.keys) == (lost, state, 1)
    assert found.lost_writes == (None if state == "unknown" else lost)
    assert found.detail


@pytest.mark.parametrize(
    ("ledger", "applied", "absent"),
    [
        (Ledger("clean", "", in_doubt=9, in_doubt_applied=4, in_doubt_absent=3), (4, 6), (3, 5)),
        (Ledger("clean", "", in_doubt=7, in_doubt_applied=4, in_doubt_absent=3), (4, 4), (3, 3)),
        (Ledger("lost", "", in_doubt=2, in_doubt_applied=0, in_doubt_absent=0), (0, 2), (0, 2)),
        (Ledger("unknown", "", in_doubt=9, in_doubt_applied=4, in_doubt_absent=3), None, None),
        (Ledger("none", ""), None, None),
        (Ledger("clean", "", in_doubt=9), None, None),  # an older generator did not tell
    ],
)
def test_what_nobody_can_say_of_writes_in_doubt_is_between_two_bounds(
    ledger: Ledger, applied: tuple[int, int] | None, absent: tuple[int, int] | None
) -> None:
    assert ledger.bounds("in_doubt_applied") == applied
    assert ledger.bounds("in_doubt_absent") == absent
    assert ledger.value("in_doubt_applied") == (applied[0] if applied else None)


def test_the_bounds_of_lost_writes_are_what_was_lost() -> None:
    assert Ledger("lost", "", lost=3).bounds("lost_writes") == (3, 3)
    assert Ledger("unknown", "", lost=0).bounds("lost_writes") is None


def test_what_is_lost_is_lost_whatever_else_is_not_known() -> None:
    lines = [register(), register(name="k2"), read(3), {**ERROR, "read": "k2"}]
    found = classify(lines, finished=False)
    assert (found.state, found.lost, found.lost_keys, found.unread) == ("lost", 6, 1, 1)


@pytest.mark.parametrize(
    ("lines", "finished", "wanted"),
    [
        ([], True, "no key was written down"),
        ([], False, "generator died"),
        ([register()], True, "not finished"),
        ([register(), read(9)], True, "not finished"),
        ([register(), read(9), END], False, "generator died"),
        ([register(), read(9), {**END, "keys": 2}], True, "1 of 2 keys are in the file"),
        ([register(), END], True, "could not be read back"),
        ([register(), {**END, "sampled": True}], True, "no key was read back"),
    ],
)
def test_a_ledger_that_was_not_read_back_is_unknown(
    lines: list[dict[str, Any]], finished: bool, wanted: str
) -> None:
    found = classify(lines, finished=finished)
    assert found.state == "unknown"
    assert found.lost_writes is None
    assert wanted in found.detail


def test_a_sample_speaks_for_what_it_read() -> None:
    keys = [register(name=f"k{i}") for i in range(10)]
    reads = [read(9, f"k{i}") for i in range(4)]
    found = classify([*keys, *reads, {"end": True, "keys": 10, "read": 4, "sampled": True}])
    assert (found.state, found.read, found.unread, found.sampled) == ("clean", 4, 0, True)


def test_without_a_verified_stream_there_is_nothing_to_know() -> None:
    found = classify([], verified=False)
    assert (found.state, found.lost_writes) == ("none", None)


def test_keys_of_two_streams_may_have_the_same_name() -> None:
    other = {"stream": "other"}
    found = classify([register(), register() | other, read(9), read(9) | other, END])
    assert (found.keys, found.ok) == (2, 2)


def test_examples_name_what_is_wrong() -> None:
    found = classify([register(), register(name="k2"), read(6), read(9, "k2"), END])
    (example,) = found.examples
    assert (example["key"], example["class"], example["writes"]) == ("k1", "rolled_back", 3)
    assert example["read"]["seq"] == 6
    json.dumps(found.as_dict())


ranges = st.sets(st.integers(2, 30), max_size=8)


@given(st.integers(1, 30), ranges, ranges, st.integers(0, 35))
def test_a_key_is_always_in_exactly_one_class(
    acked: int, in_doubt: set[int], failed: set[int], seq: int
) -> None:
    in_doubt -= {acked}
    failed -= {acked} | in_doubt
    key = register(acked, [[s, s] for s in sorted(in_doubt)], [[s, s] for s in sorted(failed)])
    found = classify([key, read(seq), END])
    kind = only(found)
    tried = set(range(1, acked + 1)) | in_doubt | failed
    if seq == acked:
        assert kind == "ok"
    elif seq not in tried or (seq in failed and seq > acked):
        assert kind == "unexpected"
    elif seq > acked:
        assert kind == "recovered"
    else:
        acknowledged = set(range(1, acked + 1)) - in_doubt - failed
        assert kind in ("rolled_back", "overwritten_by_late")
        assert found.lost == len({s for s in acknowledged if s > seq})


def balance(total: int, choices: int, records: int, in_doubt: int = 0) -> dict[str, Any]:
    found = {"total": total, "choices": choices, "records": records}
    sides = {k: {"found": n, "acked": 9, "in_doubt": in_doubt} for k, n in found.items()}
    return {"check": "votes", "stream": "votes", **sides}


def test_the_four_sums_of_votes_are_held_against_each_other() -> None:
    whole = classify([register(), read(9), balance(9, 9, 9), END])
    assert whole.state == "clean"
    assert whole.detail.endswith(
        "; votes: 9 in total = 9 by choice = 9 voters' records = 9 acknowledged"
    )
    assert whole.balances == (balance(9, 9, 9),)
    json.dumps(whole.as_dict())


def test_votes_that_are_stored_in_part_are_told_with_what_is_in_doubt() -> None:
    found = classify([register(), read(9), balance(9, 9, 10, in_doubt=1), END])
    assert found.detail.endswith(
        "votes: 9 in total, 9 by choice, 10 voters' records, 9 acknowledged: not equal, "
        "with 3 steps in doubt"
    )


def test_a_damaged_balance_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "ledger.ndjson"
    lines = [balance(9, 9, 9), {**balance(9, 9, 9), "total": {"found": -1}}, {"check": "votes"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert list(read_ledger_lines(file)) == lines[:1]


def test_torn_lines_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "ledger.ndjson"
    file.write_text(json.dumps(register()) + "\n" + json.dumps(read(9)) + "\n12\n" + '{"end": tr')
    assert list(read_ledger_lines(file)) == [register(), read(9)]
    assert list(read_ledger_lines(tmp_path / "none")) == []


def held(name: str = "k1", **fields: Any) -> dict[str, Any]:
    """A register as a generator writes it that tells what its writer knew."""
    return {**register(), "key": name, "loaded": True, "known": [9, 9], **fields}


def test_a_record_that_nobody_touched_is_missed_when_it_is_gone() -> None:
    untouched = {**register(1, acked_n=1), "loaded": True, "known": [1, 1]}
    assert classify([untouched, MISSING, END]).lost == 1
    zero = {**counter(0), "loaded": True, "known": [0, 0]}
    assert classify([zero, value(0), END]).state == "clean"
    found = classify([zero, MISSING, END])
    assert (found.state, found.lost, found.lost_keys) == ("lost", 1, 1)


def test_records_of_the_data_set_that_are_gone_are_lost_writes() -> None:
    data = {"data": "data", "keys": 1000, "read": 1000, "missing": 2, "unread": 0, "sampled": False}
    gone = [
        {"record": "k0000000007", "missing": True},
        {"record": "k8", "missing": False, "remade_t": 3.5},
    ]
    found = classify([register(), read(9), *gone, data, END])
    assert (found.state, found.lost, found.lost_keys) == ("lost", 2, 2)
    assert (found.data_keys, found.data_read, found.data_lost) == (1000, 1000, 2)
    assert "0 of 9" in found.detail
    assert "1,000 of 1,000 records of the data set were looked for" in found.detail
    assert "2 are gone" in found.detail


def test_records_of_the_data_set_that_are_corrupt_are_lost_writes() -> None:
    data = {"data": "data", "keys": 1000, "read": 1000, "missing": 1, "corrupt": 1, "unread": 0}
    lost = [
        {"record": "k0000000007", "missing": True},
        {"record": "k0000000008", "missing": False, "corrupt": True},
    ]
    for away, expected in ((False, 2), (True, 1)):  # what is corrupt is there
        found = classify([register(), read(9), *lost, data, END], away=away)
        assert (found.state, found.lost, found.data_lost) == ("lost", expected, expected)
        assert (found.corrupt, found.data_corrupt) == (1, 1)
    assert "were read back, 1 are corrupt" in found.detail


GARBLED = {"garbled": "answers", "answers": 68, "keys": 2, "corrupt": 1, "unread": 0}


@pytest.mark.parametrize("verified", [True, False])
def test_a_key_whose_answers_still_fail_their_checksum_is_lost(*, verified: bool) -> None:
    kept = [register(), read(9), END] if verified else [END]
    corrupt = {"record": "k0000000008", "missing": False, "corrupt": True}
    found = classify([*kept, corrupt, GARBLED], verified=verified)
    assert (found.state, found.lost, found.corrupt) == ("lost", 1, 1)
    assert found.garbled_answers == 68
    assert "68 answers failed their checksum during the run" in found.detail


def test_a_key_that_one_copy_alone_garbles_is_lost_once() -> None:
    corrupt = {"record": "k1", "missing": False, "corrupt": True}
    for intact in (True, False):
        key = read(9, checksum_ok=intact)
        found = classify([register(), key, corrupt, GARBLED, END])
        assert (found.state, found.lost, found.corrupt, found.lost_keys) == ("lost", 1, 1, 1)


@pytest.mark.parametrize("verified", [True, False])
def test_a_key_that_is_intact_again_is_named_and_not_lost(*, verified: bool) -> None:
    kept = [register(), read(9), END] if verified else [END]
    found = classify([*kept, {**GARBLED, "corrupt": 0}], verified=verified)
    assert (found.state, found.lost) == ("clean" if verified else "none", 0)
    assert "every key is intact again" in found.detail
    unread = classify([*kept, {**GARBLED, "corrupt": 0, "unread": 2}], verified=verified)
    assert unread.state == "unknown"


def test_a_data_set_that_could_not_be_looked_for_is_unknown() -> None:
    data = {
        "data": "data",
        "keys": 1000,
        "read": 400,
        "missing": 0,
        "unread": 600,
        "sampled": False,
    }
    found = classify([register(), read(9), data, END])
    assert (found.state, found.lost_writes) == ("unknown", None)
    assert "600 of 1,001" in found.detail


def test_a_key_that_was_missing_for_a_time_is_no_lost_write() -> None:
    refused = {"t": 12.5, "found": "missing"}
    found = classify([held(refused=refused), read(9), END])
    assert (found.state, found.lost, found.temporarily_missing) == ("clean", 0, 1)
    assert "1 keys were missing for a time and are back" in found.detail
    assert found.refused == ({"stream": "orders", "key": "k1", **refused, "class": "ok"},)
    gone = classify([held(refused=refused), MISSING, END])
    assert (gone.state, gone.lost, gone.refused_keys, gone.temporarily_missing) == ("lost", 9, 1, 0)


@pytest.mark.parametrize(
    ("key", "line", "applied", "absent"),
    [
        (held(in_doubt=[[10, 12]], known=[9, 12]), read(9), 0, 3),
        (held(in_doubt=[[10, 12]], known=[9, 12]), read(11), 1, 1),  # of 10 nobody can say
        (held(in_doubt=[[5, 6], [10, 10]], known=[9, 10], applied_n=1, absent_n=1), read(10), 2, 1),
        (counter(7, 4) | {"known": [8, 10], "applied_n": 1, "absent_n": 1}, value(9), 2, 2),
        (counter(7, 4) | {"loaded": True}, value(9), 2, 2),
    ],
)  # fmt: skip
def test_what_became_of_writes_in_doubt_is_told(
    key: dict[str, Any], line: dict[str, Any], applied: int, absent: int
) -> None:
    found = classify([key, line, END])
    assert found.state == "clean"
    assert (found.in_doubt_applied, found.in_doubt_absent) == (applied, absent)


def test_a_generator_that_did_not_follow_its_writes_in_doubt_says_nothing_of_them() -> None:
    found = classify([register(), read(9), END])
    assert (found.in_doubt_applied, found.in_doubt_absent, found.data_lost) == (None, None, None)


def test_a_writer_that_knows_its_counter_is_not_fooled_by_a_write_in_doubt() -> None:
    key = {**counter(7, 4), "loaded": True, "known": [10, 10], "applied_n": 3, "absent_n": 1}
    assert classify([key, value(10), END]).state == "clean"
    found = classify([key, value(8), END])
    assert (found.state, found.lost) == ("lost", 1)


def test_a_shared_counter_that_had_to_be_made_anew_is_lost_though_the_sum_looks_right() -> None:
    found = classify([{**counter(7, 4), "loaded": True, "remade_n": 1}, value(9), END])
    assert (found.state, found.lost) == ("lost", 1)


def test_what_is_missing_while_nodes_are_away_is_unread() -> None:
    data = {"data": "data", "keys": 10, "read": 10, "missing": 1, "unread": 0, "sampled": False}
    lines = [
        register(),
        MISSING,
        register(name="k2"),
        read(9, "k2"),
        {"record": "k7", "missing": True},
        data,
        END,
    ]
    found = classify(lines, away=True)
    assert (found.state, found.lost, found.unread, found.ok) == ("unknown", 0, 2, 1)
    assert classify(lines).lost == 10
