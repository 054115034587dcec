"""For how long there was no primary, from what a driver saw of it."""

import pytest

from brownout.databases.mongodb.discovery import PrimaryChange
from brownout.faults.atlas.request import gaps


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ([], []),
        ([PrimaryChange(10.0, "a", "b", 10.0)], [0.0]),  # it handed over
        ([PrimaryChange(10.0, "a", "b", 8.0)], [2.0]),  # it fell silent, and b was elected
        ([PrimaryChange(10.0, "a", "", 8.0), PrimaryChange(12.0, "", "b", 12.0)], [4.0]),
        ([PrimaryChange(10.0, "a", "", 10.0)], []),  # nobody followed
        ([PrimaryChange(1.0, "", "a", 1.0)], []),  # the set's discovery
        (
            [
                PrimaryChange(10.0, "a", "", 10.0),
                PrimaryChange(11.0, "", "b", 11.0),
                PrimaryChange(20.0, "b", "a", 19.5),
            ],
            [1.0, 0.5],
        ),
    ],
)
def test_a_gap_is_from_the_loss_of_a_primary_to_the_next_one(
    changes: list[PrimaryChange], wanted: list[float]
) -> None:
    assert gaps(changes) == wanted
