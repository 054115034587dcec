"""What an application of one's own is like: how a canary beside the load uses the database."""

from typing import Annotated

from pydantic import Field

from brownout.base.settings import Settings

__all__ = ["CanarySpec", "Policies"]

Policies = dict[str, bool | int | float | str | dict[str, bool | int | float | str]]


class CanarySpec(Settings):
    """The official Python client of the database, with the policies of an application."""

    rate: Annotated[
        float, Field(gt=0, le=100, description="reads a second, and as many writes")
    ] = 10.0
    threads: Annotated[
        int, Field(ge=1, le=256, description="calls at a time; further ones wait for a thread")
    ] = 32
    policies: Policies = Field(
        default_factory=dict,
        description="the client's own options, as it calls them; else its defaults",
    )
