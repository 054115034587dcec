"""One connection to the streams of a pod's process, by the official client's WebSocket.

Used by one thread only: TLS does not bear a reader and a writer at a time.
"""

import contextlib
import json
import select
import ssl
import time
from typing import Final, Self

from kubernetes.stream.ws_client import (
    ERROR_CHANNEL,
    STDERR_CHANNEL,
    STDIN_CHANNEL,
    STDOUT_CHANNEL,
    get_websocket_url,
)
from websocket import WebSocketBadStatusException, WebSocketException

from brownout.base.errors import HostError
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.websockets import WSClient
from brownout.load.kubernetes.manifest import CONTAINER

__all__ = ["BLOCK", "Broken", "PodStream"]

#: As kubectl sends; well below what an API server takes in one message.
BLOCK: Final = 32 << 10
#: A connection that is silent for so long is pinged, and then given up.
_PING_EVERY_S: Final = 5.0
_SILENT_S: Final = 20.0

_ERRORS = (OSError, WebSocketException)  # those of TLS are OSErrors


class Broken(HostError):
    """The connection broke; what ran at its other end may still run."""


class PodStream:
    """Attached to a pod's own process, or with a `command` to a new one beside it.

    `out` and `err` take what was received since they were last emptied. Raises `HostError` where
    the pod cannot be reached at all.
    """

    def __init__(self, access: Access, pod: str, command: list[str] | None = None) -> None:
        self.pod = pod
        self.out, self.err, self._last = bytearray(), bytearray(), bytearray()
        self._socket = _opened(access, pod, command)
        self._socket.sock.settimeout(_SILENT_S)
        self._heard = self._pinged = time.monotonic()

    @property
    def open(self) -> bool:
        """Whether more may come."""
        return bool(self._socket.is_open())

    @property
    def status(self) -> int | None:
        """How the command ended; None if unknown, since the connection broke."""
        if not self._last:
            return None
        code, message = _status(bytes(self._last))
        self.err += message.encode()
        return code

    def wait(self, timeout_s: float, also: int | None = None) -> bool:
        """Take what comes within `timeout_s`; say whether the descriptor `also` is readable.

        Raises `Broken` when the connection breaks or is silent for too long.
        """
        try:
            ready = self._poll(timeout_s, also)
            if self._descriptor in ready:
                self._take()
            self._keep_alive()
        except _ERRORS as error:
            raise self._broken(str(error) or type(error).__name__) from error
        return also in ready

    def send(self, data: bytes) -> None:
        """Write to its input. Raises `Broken`."""
        try:
            for start in range(0, len(data), BLOCK):
                self._socket.write_channel(STDIN_CHANNEL, data[start : start + BLOCK])
        except _ERRORS as error:
            raise self._broken(str(error) or type(error).__name__) from error

    def end_input(self) -> None:
        """End its input and leave the rest open; an API server before 1.30 cannot do that."""
        try:
            self._socket.close_channel(STDIN_CHANNEL)
        except _ERRORS as error:
            raise self._broken(str(error) or type(error).__name__) from error

    def close(self) -> None:
        """End the connection. Safe to repeat."""
        with contextlib.suppress(*_ERRORS):  # it was broken already
            self._socket.close(timeout=1)
        self._socket.sock.shutdown()  # the client leaves a socket open that the other end closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _descriptor(self) -> int:
        return int(self._socket.sock.sock.fileno())

    def _poll(self, timeout_s: float, also: int | None) -> set[int]:
        """Return which descriptors have something; what TLS has decrypted already counts."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        if also is not None:
            poll.register(also, select.POLLIN)
        waiting = self._decrypted()
        ready = {fd for fd, _ in poll.poll(0 if waiting else timeout_s * 1000)}
        return ready | {self._descriptor} if waiting else ready

    def _decrypted(self) -> bool:
        sock = self._socket.sock.sock
        return isinstance(sock, ssl.SSLSocket) and sock.pending() > 0

    def _take(self) -> None:
        """Take all that is there; the client may have more of one channel after reading another."""
        self._heard = time.monotonic()
        more = True
        while more:
            self._socket.update(timeout=0)
            more = False
            for channel, kept in (
                (STDOUT_CHANNEL, self.out),
                (STDERR_CHANNEL, self.err),
                (ERROR_CHANNEL, self._last),
            ):
                data = self._socket.read_channel(channel)
                kept += data
                more = more or bool(data)

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if now - self._heard > _SILENT_S:
            raise OSError(f"silent for {_SILENT_S:.0f} s")
        if self.open and now - self._pinged > _PING_EVERY_S:
            self._pinged = now
            self._socket.sock.ping()

    def _broken(self, why: str) -> Broken:
        return Broken(f"kubernetes: the connection to pod {self.pod} broke: {why}")


def _opened(access: Access, pod: str, command: list[str] | None) -> WSClient:
    """Connect to a pod's process, or to a new one."""
    what = "attach" if command is None else "exec"
    wanted = [("container", CONTAINER), ("stdin", "true"), ("stdout", "true"), ("stderr", "true")]
    with connect(access) as client:
        _, url, headers, _, _ = client.param_serialize(
            "GET",
            f"/api/v1/namespaces/{access.namespace}/pods/{pod}/{what}",
            query_params=wanted + [("command", word) for word in command or ()],
            header_params={},
            auth_settings=["BearerToken"],
        )
        address = get_websocket_url(url)
        try:
            return WSClient(client.configuration, address, headers, capture_all=False, binary=True)
        except _ERRORS as error:
            where = f"pod {pod} in namespace {access.namespace}"
            raise HostError(f"kubernetes: {what} to {where}: {_refusal(error)}") from None


def _status(answer: bytes) -> tuple[int, str]:
    """Return the exit code that the kubelet says at the end, and what else it has to say."""
    try:
        status = json.loads(answer)
        if status["status"] == "Success":
            return 0, ""
        causes = (status.get("details") or {}).get("causes") or ()
        codes = [cause["message"] for cause in causes if cause.get("reason") == "ExitCode"]
        return (int(codes[0]), "") if codes else (1, str(status.get("message", "")))
    except (AttributeError, KeyError, TypeError, ValueError):
        return 1, answer.decode(errors="replace")


def _refusal(error: Exception) -> str:
    """Return what a handshake that failed says, without its headers."""
    if not isinstance(error, WebSocketBadStatusException):
        return str(error) or type(error).__name__
    try:
        message = json.loads(error.resp_body or b"")["message"]
    except (KeyError, TypeError, ValueError, RecursionError):
        message = bytes(error.resp_body or b"").decode(errors="replace")
    return f"{error.status_code} {' '.join(str(message).split())[:300]}".strip()
