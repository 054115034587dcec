"""One node's REST API, for short questions: each of them over a connection of its own.

Source: Couchbase's REST API, `/pools` and `/pools/default/buckets/<name>`.
"""

import json
import ssl
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote

from brownout.base.errors import ClusterError, NoAnswer
from brownout.databases.couchbase.access import Access
from brownout.inventory.model import Node

__all__ = ["Document", "Link"]

Document = dict[str, Any]
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404


class Link:
    """Asks one node, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._node, self._access, self._timeout_s = node, access, timeout_s

    def implementation(self) -> str:
        """Return the version that the node says it runs; a mock says `CouchbaseMock`."""
        return str(self._ask("/pools").get("implementationVersion", ""))

    def bucket(self) -> Document:
        """Return the bucket as the node has it: its `nodes`, and its `vBucketServerMap`."""
        return self._ask(f"/pools/default/buckets/{quote(self._access.bucket, safe='')}")

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _ask(self, path: str) -> Document:
        """Return the node's answer.

        Raises `NoAnswer` after `connection.timeout_s`, and `ClusterError` otherwise.
        """
        who = f"node `{self._node.name}` ({self._node.api})"
        try:
            status, text = self._exchange(path)
        except TimeoutError as error:
            raise NoAnswer(f"{who}: no answer in time") from error
        except ssl.SSLError as error:
            reason = error.reason or "the TLS connection failed"
            raise ClusterError(f"{who}: {reason}; see `connection.tls`") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ClusterError(f"{who}: {reason}") from error
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            raise ClusterError(f"{who}: the login is refused ({status}); see `connection.auth`")
        if status == _NOT_FOUND:
            raise ClusterError(
                f"{who}: there is no bucket `{self._access.bucket}`",
                "make it, or name another one in `connection.options.bucket`",
            )
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if status != _OK or not isinstance(answer, dict):
            found = text.decode(errors="replace").strip()[:80]
            raise ClusterError(
                f"{who}: it does not speak Couchbase's REST API: {status} {found!r}",
                "see that `api` is the node's REST address (8091, or 18091 with TLS)",
            )
        return answer

    def _exchange(self, path: str) -> tuple[int, bytes]:
        host, _, port = str(self._node.api).rpartition(":")
        host, headers = host.strip("[]"), {}
        if self._access.username:
            login = f"{self._access.username}:{self._access.password}"
            headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        connection = (
            HTTPConnection(host, int(port), timeout=self._timeout_s)
            if self._access.tls is None
            else HTTPSConnection(host, int(port), timeout=self._timeout_s, context=self._access.tls)
        )
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
