"""What a cluster costs: the prices that an inventory carries, and sums of them. Pure.

    price: {currency: USD, per_node_hour: 2.6265}

A year has 8760 hours and a month a twelfth of that, 730.
"""

from typing import Annotated

from pydantic import Field, model_validator

from brownout.base.settings import Settings

__all__ = ["HOURS_A_MONTH", "HOURS_A_YEAR", "Price"]

HOURS_A_YEAR = 8760
HOURS_A_MONTH = HOURS_A_YEAR / 12

Amount = Annotated[float, Field(gt=0, lt=1e6, allow_inf_nan=False)]


class Price(Settings):
    """What a node, or the whole cluster, costs an hour; one of the two."""

    currency: Annotated[
        str, Field(pattern=r"^[A-Z]{3}$", description="three capital letters, as USD")
    ]
    per_node_hour: Annotated[Amount | None, Field(description="for each node, an hour")] = None
    per_cluster_hour: Annotated[Amount | None, Field(description="for all together, an hour")] = (
        None
    )

    @model_validator(mode="after")
    def _has_one(self) -> "Price":
        if (self.per_node_hour is None) == (self.per_cluster_hour is None):
            raise ValueError("wanted one of per_node_hour and per_cluster_hour")
        return self

    def hourly(self, nodes: int) -> float:
        """Return what a cluster of `nodes` costs an hour."""
        return self.per_cluster_hour or (self.per_node_hour or 0.0) * nodes

    def monthly(self, nodes: int) -> float:
        """Return what a cluster of `nodes` costs a month of 730 hours."""
        return self.hourly(nodes) * HOURS_A_MONTH

    def yearly(self, nodes: int) -> float:
        """Return what a cluster of `nodes` costs a year of 8760 hours."""
        return self.hourly(nodes) * HOURS_A_YEAR
