"""Every write that was promised and lost is found, and none is invented."""

from typing import Any

import pytest
from tests.loadgen.driving import (
    Measured,
    check_identities,
    ledger,
    measure_all,
    stream,
    verified,
)


def during(*effects: dict[str, Any]) -> dict[str, Any]:
    """Return a script of two lanes."""
    return {"lanes": 2, "effects": list(effects)}


LOSE = {"at": 0.5, "for": 1, "effect": "lose", "share": 0.2}
# The delay is longer than a write in doubt locks its key: deadline 0.5 s + settle 1 s.
LATE = {"at": 0.2, "for": 0.3, "effect": "late", "share": 0.5, "delay": 2.2}
CORRUPT = {"at": 0, "for": 60, "effect": "corrupt", "share": 0.1}
FAIL = {"at": 0.5, "for": 0.5, "effect": "error", "share": 0.5}
SILENT = {"at": 1.2, "for": 0.5, "effect": "silence", "share": 0.5}
APPLIED = {**FAIL, "in_doubt": True, "applied": True}

SCENARIOS = {
    "faithful": (2, during(), verified()),
    "lose": (2.2, during(LOSE), verified()),
    "late": (3, during(LATE), verified(deadline_s=0.5, ledger_keys=40, rate=200)),
    "corrupt": (1.5, during(CORRUPT), verified()),
    "errors": (2, during(FAIL, SILENT), verified()),
    "counters": (2, during(APPLIED, SILENT), verified(mix={"increment": 1})),
    "beside another": (1, during(), stream(), {"streams": [stream(), verified()]}),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    return measure_all(tmp_path_factory.mktemp("ledger"), SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_identities_hold_in_every_row(measured: dict[str, Measured], scenario: str) -> None:
    check_identities(measured[scenario].run)


@pytest.mark.parametrize("scenario", ["faithful", "beside another"])
def test_a_faithful_server_keeps_every_promise(
    measured: dict[str, Measured], scenario: str
) -> None:
    promised, found, last = ledger(measured[scenario].run)
    assert last == {"end": True, "keys": 400, "read": 400, "sampled": False}
    assert len(promised) == len(found) == 400
    for key, promise in promised.items():
        assert promise["writer"] == found[key]["writer"] == "test-run"
        assert found[key]["seq"] == promise["acked"]
        assert found[key]["checksum_ok"] is True
    assert sum(promise["acked_n"] for promise in promised.values()) > 400 + 100


def test_lost_acknowledged_writes_are_all_found(measured: dict[str, Measured]) -> None:
    promised, found, _ = ledger(measured["lose"].run)
    lost = measured["lose"].truth["lost"]
    assert len(lost) > 40
    last_lost = {write["key"]: write["seq"] for write in lost}
    # A later write that was kept covers an earlier loss: only the last one of a key counts.
    covered = {key for key, seq in last_lost.items() if promised[key]["acked"] != seq}
    wrong = {key for key, promise in promised.items() if found[key]["seq"] < promise["acked"]}
    assert wrong == set(last_lost) - covered
    assert wrong


def test_a_late_write_that_wins_is_known_to_have_been_in_doubt(
    measured: dict[str, Measured],
) -> None:
    promised, found, _ = ledger(measured["late"].run)
    late = measured["late"].truth["late"]
    overwritten = {write["key"]: write["seq"] for write in late if write["replaced"] > write["seq"]}
    assert overwritten
    for key, seq in overwritten.items():
        assert any(a <= seq <= b for a, b in promised[key]["in_doubt"])
        assert found[key]["seq"] in (seq, promised[key]["acked"])
    assert any(found[key]["seq"] < promised[key]["acked"] for key in overwritten)


def test_a_corrupt_record_fails_its_checksum(measured: dict[str, Measured]) -> None:
    _, found, _ = ledger(measured["corrupt"].run)
    bad = {key for key, line in found.items() if not line["checksum_ok"]}
    assert bad
    assert bad <= {write["key"] for write in measured["corrupt"].truth["corrupted"]}


def test_writes_in_doubt_and_failed_are_told_apart(measured: dict[str, Measured]) -> None:
    promised, _, _ = ledger(measured["errors"].run)
    failed, silent = (effect["hit"] for effect in measured["errors"].truth["effects"])
    assert sum(p["failed_n"] for p in promised.values()) == failed > 50
    assert sum(p["in_doubt_n"] for p in promised.values()) == silent > 50
    for promise in promised.values():
        assert sum(b - a + 1 for a, b in promise["failed"]) == promise["failed_n"]


def test_counters_lie_between_acknowledged_and_in_doubt(measured: dict[str, Measured]) -> None:
    promised, found, _ = ledger(measured["counters"].run)
    doubtful = 0
    for key, promise in promised.items():
        assert promise["kind"] == "counter"
        assert promise["acked"] <= found[key]["value"] <= promise["acked"] + promise["in_doubt_n"]
        doubtful += promise["in_doubt_n"]
    assert doubtful > 50
