"""Which cluster of Atlas is meant, and how to log in to its Administration API."""

import ipaddress
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from brownout.base.secret import Secret
from brownout.base.settings import LocalFile, Name, Settings

__all__ = ["BY_ATLAS", "ApiKey", "AtlasSpec", "ServiceAccount", "is_loopback"]

#: What a scenario needs that only Atlas can do.
BY_ATLAS = frozenset({"failover", "maintenance", "outage", "pause_cluster", "resize"})

#: No path and no user: what else could stand there may be a secret.
_FORM = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?/?")


class ServiceAccount(Settings):
    """What Atlas gives a program to log in with; its secret ends after a year at most."""

    client_id: Secret
    client_secret: Secret


class ApiKey(Settings):
    """The older kind of login, by HTTP digest."""

    public_key: Secret
    private_key: Secret


class AtlasSpec(Settings):
    """A cluster as Atlas knows it."""

    project: Annotated[
        str, Field(pattern=r"^[0-9a-f]{24}$", description="the project's id, 24 hex digits")
    ]
    cluster: Annotated[Name, Field(description="its name in Atlas")]
    base_url: Annotated[str, Field(description="of the Administration API")] = (
        "https://cloud.mongodb.com"
    )
    service_account: ServiceAccount | None = None
    api_key: ApiKey | None = None
    ca_file: Annotated[
        LocalFile | None, Field(description="authorities to trust instead of the public ones")
    ] = None
    timeout_s: Annotated[float, Field(gt=0, le=300, description="for one answer of the API")] = 30.0
    patience_s: Annotated[
        float, Field(ge=0, le=3600, description="for one call with all its repeats")
    ] = 120.0

    @field_validator("base_url")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        """Log in by TLS only; a server on this machine may do without."""
        if not _FORM.fullmatch(url) or not 0 < (urlsplit(url).port or 443) < 65536:
            raise ValueError(
                "wanted scheme://host[:port] and no more, as https://cloud.mongodb.com"
            )
        if url.startswith("http:") and not is_loopback(url):
            raise ValueError("wanted https: by http everybody on the way could read the login")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _has_one_login(self) -> "AtlasSpec":
        if (self.service_account is None) == (self.api_key is None):
            both = "both" if self.api_key else "neither"
            raise ValueError(f"found {both} of service_account and api_key, wanted one of them")
        return self

    @property
    def login(self) -> Literal["service account", "API key"]:
        """Return in words what logs in."""
        return "service account" if self.service_account else "API key"

    def secrets(self) -> list[str]:
        """Return everything that may be shown nowhere."""
        login = self.service_account or self.api_key
        return [value.get_secret_value() for _, value in login] if login else []


def is_loopback(url: str) -> bool:
    """Whether the server at `url` is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
