"""The arithmetic of prices, on the whitepaper's cost table."""

from typing import Any

import pytest
from pydantic import ValidationError

from brownout.inventory.price import Price


def priced(**settings: Any) -> Price:
    return Price.model_validate({"currency": "USD", **settings})


def test_the_whitepapers_cost_table_comes_out() -> None:
    aerospike = priced(per_node_hour=1917.35 / 730)  # five nodes at $1,917.35 a month
    atlas = priced(per_cluster_hour=71.54)
    assert round(aerospike.yearly(5)) == 115_041
    assert round(atlas.monthly(15)) == 52_224
    assert round(atlas.yearly(15)) == 626_690
    assert round(atlas.yearly(15) / aerospike.yearly(5), 2) == 5.45


def test_operations_for_money_are_as_the_whitepaper_implies() -> None:
    aerospike, atlas = priced(per_node_hour=1917.35 / 730), priced(per_cluster_hour=71.54)
    assert 321_000 / aerospike.monthly(5) == pytest.approx(33.5, abs=0.05)
    assert 35_968 / atlas.monthly(15) == pytest.approx(0.69, abs=0.005)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"per_node_hour": -1},
        {"per_node_hour": 0},
        {"per_node_hour": float("nan")},
        {"per_node_hour": float("inf")},
        {"per_node_hour": 1, "per_cluster_hour": 2},
        {"per_node_hour": 1, "currency": "dollars"},
        {"per_node_hour": "dear"},
        {"per_node_day": 1},
    ],
)
def test_prices_that_mean_nothing_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        priced(**settings)
