"""The local API's process: `python -m brownout.databases.mongodb.lab.atlas_api.server SETTINGS`.

Every answer says in its header `X-Brownout` that it does not come from MongoDB.
"""

import base64
import hmac
import json
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from brownout.base.errors import BrownoutError
from brownout.databases.mongodb.lab.atlas_api.desk import Answer, Desk
from brownout.inventory import inventory

__all__ = ["BANNER", "serve"]

BANNER = "local server of brownout's lab in front of real mongod processes; not MongoDB Atlas"
_TOKEN_LASTS_S = 3600
_VERSION = re.compile(r"application/vnd\.atlas\.(\d{4}-\d{2}-\d{2})\+json")
Query = Mapping[str, list[str]]


class Tokens:
    """Who may ask: one service account, and the tokens that it was given."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        pair = f"{client_id}:{client_secret}".encode()
        self._basic = "Basic " + base64.b64encode(pair).decode()
        self._until: dict[str, float] = {}

    def give(self, authorization: str) -> Answer:
        """Return a new token for the right login."""
        if not hmac.compare_digest(authorization, self._basic):
            return Answer.refusal(401, "INVALID_CLIENT", "The client is not known.")
        token = secrets.token_urlsafe(32)
        self._until[token] = time.monotonic() + _TOKEN_LASTS_S
        lasts = {"expires_in": _TOKEN_LASTS_S, "token_type": "Bearer"}
        return Answer(200, {"access_token": token, **lasts})

    def hold(self, authorization: str) -> bool:
        """Whether this is a token that still counts."""
        return self._until.get(authorization.removeprefix("Bearer "), 0.0) > time.monotonic()


def routes(desk: Desk) -> list[tuple[str, str, str, Callable[..., Answer]]]:
    """Return each call that is served: method, path, the version of its resource, and what answers.

    What answers gets the body, the query and what the path names.
    """
    group = f"/api/atlas/v2/groups/{desk.book.project}"
    own = f"{group}/clusters/{re.escape(desk.book.name)}"
    process = rf"{group}/processes/([^/]+)"
    return [
        ("GET", own, "2024-08-05", lambda body, query: desk.cluster()),
        ("PATCH", own, "2024-10-23", lambda body, query: desk.change(body)),
        ("GET", f"{own}/status", "2023-01-01", lambda body, query: desk.status()),
        ("POST", f"{own}/restartPrimaries", "2023-02-01", lambda body, q: desk.restart_primaries()),
        ("POST", f"{own}/outageSimulation", "2023-01-01", lambda body, q: desk.start_outage(body)),
        ("GET", f"{own}/outageSimulation", "2023-01-01", lambda body, query: desk.outage()),
        ("DELETE", f"{own}/outageSimulation", "2023-01-01", lambda body, q: desk.end_outage()),
        ("GET", f"{group}/processes", "2023-01-01", lambda body, query: desk.processes()),
        ("GET", f"{process}/measurements", "2023-01-01",
         lambda body, query, name: desk.measurements(name, query.get("m", []))),
        ("GET", f"{group}/events", "2023-01-01", lambda body, query: desk.events()),
        ("GET", f"{group}/maintenanceWindow", "2023-01-01", lambda body, q: desk.maintenance()),
        ("PATCH", f"{group}/maintenanceWindow", "2023-01-01",
         lambda body, query: desk.change_maintenance(body)),
        ("DELETE", f"{group}/maintenanceWindow", "2023-01-01",
         lambda body, query: desk.reset_maintenance()),
    ]  # fmt: skip


def answer(desk: Desk, method: str, target: str, accept: str, body: Any) -> Answer:
    """Return what a request that is logged in is answered."""
    parts = urlsplit(target)
    for verb, path, version, act in routes(desk):
        match = re.fullmatch(path, parts.path) if verb == method else None
        if match is None:
            continue
        wanted = _VERSION.fullmatch(accept)
        if wanted is None or wanted[1] < version:
            detail = f"Accept: {accept}; the resource has the version {version}."
            return Answer.refusal(406, "UNSUPPORTED_VERSION", detail)
        return act(body, parse_qs(parts.query), *match.groups())
    return _nowhere(desk, parts.path)


def _nowhere(desk: Desk, path: str) -> Answer:
    group = re.match(r"/api/atlas/v2/groups/([^/]+)(?:/clusters/([^/]+))?", path)
    if group and group[1] != desk.book.project:
        detail = f"No group with ID {group[1]} exists."
        return Answer.refusal(404, "GROUP_NOT_FOUND", detail)
    if group and group[2] and group[2] != desk.book.name:
        detail = f"No cluster named {group[2]} exists in group {group[1]}."
        return Answer.refusal(404, "CLUSTER_NOT_FOUND", detail)
    return Answer.refusal(404, "RESOURCE_NOT_FOUND", f"This lab does not serve {path}.")


def _handler(desk: Desk, tokens: Tokens) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "brownout-lab-atlas", ""

        def _any(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                reply = self._answered(raw)
            except BrownoutError as error:
                reply = Answer.refusal(500, "UNEXPECTED_ERROR", str(error))
            text = b"" if reply.body is None else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("X-Brownout", BANNER)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = _any

        def _answered(self, raw: bytes) -> Answer:
            login = self.headers.get("Authorization", "")
            if self.path == "/idle":  # the lab's own question, none of Atlas's
                return Answer(200, {"idle": desk.idle()})
            if self.path == "/api/oauth/token" and self.command == "POST":
                return tokens.give(login)
            if not tokens.hold(login):
                return Answer.refusal(401, "UNAUTHORIZED", "No valid token.")
            try:
                body = json.loads(raw) if raw else {}
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                return Answer.refusal(400, "VALIDATION_ERROR", "The body is no JSON object.")
            return answer(desk, self.command, self.path, self.headers.get("Accept", ""), body)

        def log_message(self, format: str, *args: Any) -> None:
            """Write one line a request, with no header, so no login."""
            sys.stderr.write(f"{self.log_date_time_string()} {format % args}\n")

    return Handler


def serve(settings: Path) -> None:
    """Serve until the process is ended."""
    wanted = json.loads(settings.read_text(encoding="utf-8"))
    cluster = inventory.declared(settings.parent.parent / "inventory.yaml")
    if cluster.atlas is None:
        raise BrownoutError(f"the inventory of `{cluster.name}` has no `atlas`")
    print(BANNER, flush=True)
    desk = Desk(cluster, cluster.atlas.project, float(wanted["begins_after_s"]))
    tokens = Tokens(*cluster.atlas.secrets())
    address = ("127.0.0.1", int(wanted["port"]))
    ThreadingHTTPServer(address, _handler(desk, tokens)).serve_forever()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
