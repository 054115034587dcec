"""How far a member is that copies all data, from what MongoDB 6.0.5 says."""

from typing import Any

import pytest

from brownout.databases.mongodb.initial_sync import copying


def status(**sync: Any) -> dict[str, Any]:
    return {"myState": 5, "initialSyncStatus": {"failedInitialSyncAttempts": 0, **sync}}


CLONING = status(
    totalInitialSyncElapsedMillis=4200,
    remainingInitialSyncEstimatedMillis=6300,
    approxTotalDataSize=100_000_000,
    approxTotalBytesCopied=40_000_000,
    databases={
        **{"databasesToClone": 1, "databasesCloned": 1},
        "admin": {"collections": 1, "admin.system.keys": {"documentsCopied": 2}},
        "shop": {"collections": 2, "shop.a": {"documentsCopied": 30}, "shop.b": {}},
    },
)


def test_a_member_that_copies_nothing_says_nothing() -> None:
    assert copying({"myState": 2}) is None


def test_what_is_left_and_how_long_it_takes_is_the_servers_own_estimate() -> None:
    progress = copying(CLONING)

    assert progress is not None
    assert progress.bytes_left == 60_000_000
    assert progress.evidence() == {
        **{"phase": "cloning", "bytes_copied": 40_000_000, "bytes_total": 100_000_000},
        **{"documents_copied": 30, "eta_s": 6.3, "elapsed_s": 4.2, "failed": 0},
    }


@pytest.mark.parametrize(
    ("databases", "phase"),
    [
        ({}, "starting"),
        ({"databasesToClone": 2, "databasesCloned": 0}, "cloning"),
        ({"databasesToClone": 0, "databasesCloned": 3}, "applying"),
    ],
)
def test_the_phase_is_read_from_what_is_cloned(databases: dict[str, int], phase: str) -> None:
    progress = copying(status(databases=databases))

    assert progress is not None
    assert (progress.phase, progress.bytes_left, progress.eta_s) == (phase, None, None)
