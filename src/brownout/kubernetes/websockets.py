"""The official client's WebSockets (`exec`, `attach`), with a time-out for their handshake.

By itself that client waits for ever for a server that accepts a connection and never answers.
"""

from typing import Any

from kubernetes.stream import stream, ws_client
from kubernetes.stream.ws_client import WSClient
from websocket import WebSocket

from brownout.kubernetes import access

__all__ = ["WSClient", "stream"]


class _Patient(WebSocket):
    """A WebSocket that waits so long for an answer, also for that to its first request."""

    def connect(self, url: str, **options: Any) -> None:
        super().connect(url, **{"timeout": access.TIMEOUT_S, **options})  # type: ignore[no-untyped-call]


ws_client.WebSocket = _Patient  # it makes its own, and has no option for this
