"""Sentinels: who watches a master and its replicas, and promotes one of these."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from brownout.base.settings import Address, Settings
from brownout.inventory.connection import Auth

__all__ = ["SentinelSpec"]


class SentinelSpec(Settings):
    """The sentinels of one master and its replicas. They are not nodes of the inventory."""

    master: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._-]+$",
            description="the name by which the sentinels know the master (`sentinel monitor`)",
        ),
    ]
    addresses: Annotated[
        tuple[Address, ...], Field(min_length=1, description="every sentinel, host:port")
    ]
    auth: Annotated[
        Auth | None,
        Field(description="who we are to the sentinels; none where they want no login"),
    ] = None

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        twice = sorted({at for at in self.addresses if self.addresses.count(at) > 1})
        if twice:
            raise ValueError(f"addresses: found {', '.join(twice)} twice")
        if self.auth is not None and self.auth.mechanism == "x509":
            raise ValueError("auth: found x509, wanted a username and a password")
        return self
