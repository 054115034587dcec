"""Logging in: a service account's token, or an API key's digest."""

import threading
import time
from collections.abc import Callable, Generator

import httpx

from brownout.atlas.calls import Call
from brownout.atlas.errors import refused
from brownout.base.errors import ClusterError
from brownout.inventory.atlas import AtlasSpec, ServiceAccount

__all__ = ["TOKEN_PATH", "TokenLogin", "login_of"]

TOKEN_PATH = "/api/oauth/token"
_TOKEN_CALL = Call("POST", TOKEN_PATH, "", "any")
#: A token is renewed so long before it ends: a call takes time, and clocks differ.
_EARLY_S = 60.0
Clock = Callable[[], float]
Flow = Generator[httpx.Request, httpx.Response, None]


def login_of(spec: AtlasSpec) -> httpx.Auth:
    """Return what logs each call of `spec` in."""
    if spec.service_account is not None:
        return TokenLogin(spec, spec.service_account)
    return httpx.DigestAuth(*spec.secrets())


class TokenLogin(httpx.Auth):
    """A service account's: one token for all calls, renewed before it ends.

    A token that is refused is renewed once, since it may have been taken back; a second refusal
    is the answer.
    """

    requires_response_body = True

    def __init__(
        self, spec: AtlasSpec, account: ServiceAccount, clock: Clock = time.monotonic
    ) -> None:
        self._spec, self._account, self._clock = spec, account, clock
        self._token, self._until = "", 0.0
        self._lock = threading.Lock()

    def sync_auth_flow(self, request: httpx.Request) -> Flow:
        """Send `request` with a token, and with another one if that is refused."""
        token = yield from self._current(refused_token="")
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401:
            token = yield from self._current(refused_token=token)
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    def _current(self, refused_token: str) -> Generator[httpx.Request, httpx.Response, str]:
        """Return a token that is not `refused_token` and has some time left."""
        with self._lock:
            if self._token in ("", refused_token) or self._clock() >= self._until:
                asked = self._clock()
                response = yield self._request()
                response.read()
                self._take(response, asked)
            return self._token

    def _request(self) -> httpx.Request:
        account = self._account
        who = (account.client_id.get_secret_value(), account.client_secret.get_secret_value())
        request = httpx.Request(
            "POST",
            f"{self._spec.base_url}{TOKEN_PATH}",
            headers={"Accept": "application/json"},
            data={"grant_type": "client_credentials"},
            extensions={"timeout": httpx.Timeout(self._spec.timeout_s).as_dict()},
        )
        return next(httpx.BasicAuth(*who).auth_flow(request))

    def _take(self, response: httpx.Response, asked: float) -> None:
        """Keep the token of an answer until shortly before it ends."""
        if response.status_code != 200:
            wait = response.headers.get("Retry-After", "")
            secrets = self._spec.secrets()
            raise refused(_TOKEN_CALL, response.status_code, response.text, wait, secrets)
        try:
            answer = response.json()
            token, lasts_s = str(answer["access_token"]), float(answer["expires_in"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ClusterError(
                f"the answer of {TOKEN_PATH} is not a token (not shown)",
                "is `atlas.base_url` the address of the Administration API?",
            ) from error
        self._token, self._until = token, asked + max(lasts_s - _EARLY_S, lasts_s / 2)
