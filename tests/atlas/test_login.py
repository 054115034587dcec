"""A service account's token is used while it lasts, by every thread, and renewed before it ends."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
from tests.atlas.recorded_api import CLUSTER, Api, Recorded

from brownout.atlas import AtlasSpec, calls
from brownout.atlas.login import TokenLogin

HOUR_S = 3600


class Asking:
    """Asks the API with a login whose clock is ours."""

    def __init__(self, spec: AtlasSpec) -> None:
        assert spec.service_account is not None
        self.now = 0.0
        self._login = TokenLogin(spec, spec.service_account, lambda: self.now)
        self._call, self._url = calls.read_status(spec), spec.base_url

    def ask(self, now: float = 0.0) -> int:
        self.now = now
        headers = {"Accept": self._call.media_type}
        with httpx.Client(base_url=self._url, auth=self._login) as client:
            return client.get(self._call.path, headers=headers).status_code


def test_a_token_is_used_until_shortly_before_it_ends(
    api: Api, spec_of: Callable[..., AtlasSpec]
) -> None:
    asking = Asking(spec_of(api.url))
    api.answer(*[Recorded(200, {})] * 3)

    assert [asking.ask(at) for at in (0.0, HOUR_S - 61.0)] == [200, 200]
    assert len(api.tokens) == 1
    asking.ask(HOUR_S - 59.0)

    assert len(api.tokens) == 2
    assert api.asked == [f"GET {CLUSTER}/status"] * 3


def test_a_token_that_lasts_for_seconds_is_used_all_the_same(
    api: Api, spec_of: Callable[..., AtlasSpec]
) -> None:
    api.lasts_s = 10
    asking = Asking(spec_of(api.url))
    api.answer(*[Recorded(200, {})] * 3)

    for at in (0.0, 4.0, 6.0):
        asking.ask(at)

    assert len(api.tokens) == 2


def test_threads_share_one_token(api: Api, spec_of: Callable[..., AtlasSpec]) -> None:
    asking = Asking(spec_of(api.url))
    api.answer(*[Recorded(200, {})] * 8)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: asking.ask(), range(8)))

    assert found == [200] * 8
    assert len(api.tokens) == 1
