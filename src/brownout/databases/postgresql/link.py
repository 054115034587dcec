"""One member's Patroni, for short questions and orders: its REST API.

Source: Patroni's documentation, "Patroni REST API", and `patroni/api.py`, 3.0 to 4.1.
"""

import json
from typing import Any

from brownout.base import errors
from brownout.databases.connections import HttpApi, basic_login
from brownout.databases.postgresql.access import Access, api_of
from brownout.inventory.model import Node

__all__ = ["CommandFailed", "Document", "Link"]

Document = dict[str, Any]


_LOGIN = "see `connection.auth`, and `restapi.authentication` in Patroni's configuration"


class CommandFailed(errors.CommandFailed):
    """Patroni answered, and the answer was no.

    With 4xx it has done nothing; with 5xx it may have begun.
    """


class Link:
    """Asks one member's Patroni, and only that one; safe to use from several threads."""

    def __init__(self, node: Node, access: Access, timeout_s: float) -> None:
        self._access, self._timeout_s = access, timeout_s
        self._who = f"member `{node.name}` (Patroni at {api_of(node)})"
        self._api = HttpApi(self._who, api_of(node), access.tls)

    def ask(self, path: str) -> Document:
        """Get a document, as `ask("patroni")`.

        Raises `NoAnswer` in time, `CommandFailed` with what Patroni says, else `ClusterError`.
        """
        status, text = self._exchange("GET", path, None, self._timeout_s)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if status != 200 or not isinstance(answer, dict):
            raise CommandFailed(f"{self._who}: {status} {_words(text)}")
        return answer

    def order(self, path: str, timeout_s: float, **message: Any) -> str:
        """Post a message, as `order("switchover", 60, leader="n1")`; return what Patroni says."""
        status, text = self._exchange("POST", path, message, timeout_s)
        if status in (401, 403):
            raise CommandFailed(f"{self._who}: it refuses the login", _LOGIN, refused=True)
        if status not in (200, 202):
            refused = 400 <= status < 500
            raise CommandFailed(f"{self._who}: {status} {_words(text)}", refused=refused)
        return _words(text)

    def refuses(self, path: str) -> bool:
        """Return whether Patroni refuses our login for an order; it is given none.

        An order that says nothing is answered with 400 where we may give one.
        """
        status, _ = self._exchange("POST", path, {}, self._timeout_s)
        return status in (401, 403)

    def close(self) -> None:
        """Do nothing: each question has a connection of its own."""

    def _exchange(
        self, method: str, path: str, message: Document | None, timeout_s: float
    ) -> tuple[int, bytes]:
        headers = basic_login(self._access) if self._access.password else {}
        return self._api.exchange(method, f"/{path}", timeout_s, message, headers)


def _words(text: bytes) -> str:
    return " ".join(text.decode(errors="replace").split())[:200]
