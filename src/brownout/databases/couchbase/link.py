"""One node's REST API, for short questions: each of them over a connection of its own.

Source: Couchbase's REST API, `/pools` and `/pools/default/buckets/<name>`.
"""

import json
from typing import Any
from urllib.parse import quote

from brownout.base.errors import ClusterError
from brownout.databases.connections import HttpApi, basic_login
from brownout.databases.couchbase.access import Access
from brownout.inventory.model import Node

__all__ = ["Document", "Link"]

Document = dict[str, Any]
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404


class Link:
    """Asks one node, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._access, self._timeout_s = access, timeout_s
        self._who = f"node `{node.name}` ({node.api})"
        self._api = HttpApi(self._who, str(node.api), access.tls)

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
        headers = basic_login(self._access)
        status, text = self._api.exchange("GET", path, self._timeout_s, headers=headers)
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            raise ClusterError(
                f"{self._who}: the login is refused ({status}); see `connection.auth`"
            )
        if status == _NOT_FOUND:
            raise ClusterError(
                f"{self._who}: there is no bucket `{self._access.bucket}`",
                "make it, or name another one in `connection.options.bucket`",
            )
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if status != _OK or not isinstance(answer, dict):
            excerpt = text.decode(errors="replace").strip()[:80]
            raise ClusterError(
                f"{self._who}: it does not speak Couchbase's REST API: {status} {excerpt!r}",
                "see that `api` is the node's REST address (8091, or 18091 with TLS)",
            )
        return answer
