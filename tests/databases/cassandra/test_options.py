"""What reads of the Cassandra driver see."""

import pytest

from brownout.databases.cassandra.options import reading
from brownout.inventory.database import Reading


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, Reading("linearizable", "QUORUM")),
        ({"consistency": "ONE"}, Reading("eventual", "ONE")),
        ({"consistency": "ONE", "read_consistency": "ALL"}, Reading("linearizable", "ALL")),
        ({"consistency": "QUORUM", "read_consistency": "ONE"}, Reading("eventual", "ONE")),
        ({"consistency": "EACH_QUORUM"}, Reading("linearizable", "LOCAL_QUORUM")),
        (
            {"consistency": "EACH_QUORUM", "read_consistency": "LOCAL_QUORUM"},
            Reading("linearizable", "LOCAL_QUORUM"),
        ),
        (
            {"consistency": "EACH_QUORUM", "read_consistency": "QUORUM"},
            Reading("linearizable", "QUORUM"),
        ),
        (
            {"consistency": "QUORUM", "read_consistency": "LOCAL_QUORUM"},
            Reading("eventual", "LOCAL_QUORUM"),
        ),
        ({"consistency": "LOCAL_QUORUM"}, Reading("eventual", "LOCAL_QUORUM")),
    ],
)
def test_reads_see_every_write_where_the_quorums_overlap(
    options: dict[str, str], seen: Reading
) -> None:
    assert reading(options) == seen
