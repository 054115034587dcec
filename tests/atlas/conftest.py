"""A client of the recorded API; no pause between tries is waited out, each is noted."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.atlas.recorded_api import CLIENT, PRIVATE, PROJECT, PUBLIC, SECRET, Api, serving

from brownout.atlas import AtlasSpec
from brownout.atlas.client import AtlasClient


@pytest.fixture
def api() -> Iterator[Api]:
    """The server; at its end each request was as the documentation wants it."""
    with serving() as running:
        yield running
    assert running.wrong == []


@pytest.fixture
def spec_of() -> Callable[..., AtlasSpec]:
    """Make the settings of `orders` at a URL, with a service account's login or the one given."""

    def make(url: str, **more: Any) -> AtlasSpec:
        account = {"client_id": SecretStr(CLIENT), "client_secret": SecretStr(SECRET)}
        login = {} if "api_key" in more else {"service_account": account}
        settings = {"project": PROJECT, "cluster": "orders", "base_url": url, **login, **more}
        return AtlasSpec.model_validate(settings)

    return make


@pytest.fixture
def digest_key() -> dict[str, SecretStr]:
    """An API key that the server knows."""
    return {"public_key": SecretStr(PUBLIC), "private_key": SecretStr(PRIVATE)}


@pytest.fixture
def paused() -> list[float]:
    """How long the client wanted to wait, each time."""
    return []


@pytest.fixture
def client(
    api: Api, spec_of: Callable[..., AtlasSpec], paused: list[float]
) -> Iterator[AtlasClient]:
    """A client that is logged in by a service account."""
    with AtlasClient(spec_of(api.url), paused.append) as made:
        yield made
