"""A real HTTP server that answers as the Administration API was recorded to, errors above all."""

import base64
import contextlib
import hashlib
import json
import re
import ssl
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.atlas.schemas import check_request

PROJECT = "5e2211c17a3e5a48f5497de3"
CLIENT, SECRET = "mdb_sa_id_orders", "mdb_sa_sk_0rders-secret"
PUBLIC, PRIVATE = "qwertyui", "0rders-private-key"
CLUSTER = f"/api/atlas/v2/groups/{PROJECT}/clusters/orders"


@dataclass(frozen=True)
class Recorded:
    """One answer: a status, a body and headers; `hold` is set to answer at all."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None


def error(status: int, code: str, detail: str, **headers: str) -> Recorded:
    """Return an error in the form that the API documents for all of them."""
    reasons = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
    body = {
        "detail": detail,
        "error": status,
        "errorCode": code,
        "parameters": [],
        "reason": reasons.get(status, "Error"),
    }
    return Recorded(status, body, {name.replace("_", "-"): v for name, v in headers.items()})


@dataclass
class Api:
    """The server's state: what it answers next, and what it was asked."""

    url: str = ""
    answers: deque[Recorded] = field(default_factory=deque)
    token_answers: deque[Recorded] = field(default_factory=deque)
    asked: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    valid: set[str] = field(default_factory=set)
    lasts_s: int = 3600
    digest: bool = False

    def answer(self, *recorded: Recorded) -> None:
        """Give these answers, one a call, after those that are already waiting."""
        self.answers.extend(recorded)

    def expire(self) -> None:
        """Refuse every token that was given out until now."""
        self.valid.clear()


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            if self.path == "/api/oauth/token":
                return self._send(_token(api, dict(self.headers), raw))
            if not _logged_in(api, self.command, self.path, dict(self.headers)):
                return self._send(_challenge(api))
            body = json.loads(raw) if raw else None
            api.asked.append(f"{self.command} {self.path}")
            api.bodies.append(body)
            api.wrong += check_request(self.command, self.path, dict(self.headers), body)
            return self._send(api.answers.popleft())

        do_GET = do_POST = do_PATCH = do_DELETE = _any

        def _send(self, recorded: Recorded) -> None:
            if recorded.hold is not None:
                recorded.hold.wait(30)
            plain = isinstance(recorded.body, str)
            text = recorded.body if plain else json.dumps(recorded.body)
            payload = text.encode()
            self.send_response(recorded.status)
            for name, value in recorded.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # who asked had no more patience
                self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


def _token(api: Api, headers: Mapping[str, str], raw: bytes) -> Recorded:
    if api.token_answers:
        return api.token_answers.popleft()
    wanted = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
    if headers.get("Authorization") != wanted or raw != b"grant_type=client_credentials":
        return error(401, "INVALID_CLIENT", "the client is not known")
    token = f"token-{len(api.tokens) + 1}-of-orders"
    api.tokens.append(token)
    api.valid.add(token)
    return Recorded(200, {"access_token": token, "expires_in": api.lasts_s, "token_type": "Bearer"})


def _challenge(api: Api) -> Recorded:
    if not api.digest:
        return error(401, "UNAUTHORIZED", "The request was not authorized")
    wants = 'Digest realm="MMS Public API", nonce="n0nce", algorithm=MD5, qop="auth"'
    return Recorded(401, {"error": 401}, {"WWW-Authenticate": wants})


def _logged_in(api: Api, method: str, path: str, headers: Mapping[str, str]) -> bool:
    given = headers.get("Authorization", "")
    if not api.digest:
        return given.removeprefix("Bearer ") in api.valid
    said = dict(re.findall(r'(\w+)="?([^",]+)"?', given))
    if not said:
        return False
    first = _md5(f"{PUBLIC}:MMS Public API:{PRIVATE}")
    second = _md5(f"{method}:{path}")
    wanted = f"{first}:{said['nonce']}:{said['nc']}:{said['cnonce']}:{said['qop']}:{second}"
    return (said["username"], said["response"]) == (PUBLIC, _md5(wanted))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Api]:
    """Serve on loopback, by TLS where there is a `certificate` (with its key)."""
    api = Api()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    api.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
