"""Waiting for a cluster."""

from brownout.databases import lacking
from brownout.databases.adapter import Adapter

__all__ = ["await_whole"]

PATIENCE_S = 120.0


def await_whole(adapter: Adapter) -> None:
    """Wait until every member is there and in step."""
    missing = lacking.await_nothing(
        lambda: lacking.lacks(adapter, "whole"), PATIENCE_S, poll_s=0.05
    )
    assert not missing, missing
