"""What ended waiting for brownout's own pool is told apart from what the database did."""

from dataclasses import replace

import pytest
from tests.measure.signals import make_series
from tests.measure.views import data_of, view

from brownout.measure.data import ErrorRow
from brownout.measure.own_pool import own_pool_operations, own_pool_time
from brownout.measure.settings import MeasureSettings

STEADY = [80] * 600
ROWS = [
    ErrorRow(10.0, "app", "read", "no-slot", 9),  # before the fault
    ErrorRow(31.0, "app", "read", "no-slot", 3),
    ErrorRow(31.0, "app", "read", "pool-exhausted", 2),
    ErrorRow(31.1, "app", "read", "not-primary", 7),
    ErrorRow(31.4, "app", "read", "pool-exhausted", 1),
]


@pytest.mark.parametrize(
    ("rows", "operations", "seconds"), [(ROWS, 6, 0.2), (ROWS[3:4], 0, 0.0), ([], 0, 0.0)]
)
def test_only_the_causes_of_our_own_pool_count_and_only_of_the_fault(
    rows: list[ErrorRow], operations: int, seconds: float
) -> None:
    data = replace(data_of(make_series(STEADY, STEADY), MeasureSettings.lab()), errors=rows)
    seen = view(data, 30.0, 50.0)
    assert own_pool_operations(seen, data) == operations
    assert own_pool_time(seen, data) == pytest.approx(seconds)
