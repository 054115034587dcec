"""Commands in a pod's container: by `exec` through the API server, over a websocket.

Scripts go to `/bin/sh -s` by their standard input, as on every other kind of host.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import kubernetes.client
from websocket import WebSocketException

from brownout.base.errors import HostError
from brownout.kubernetes.access import TIMEOUT_S, Access, connect
from brownout.kubernetes.problems import asking
from brownout.kubernetes.websockets import stream
from brownout.machine.commands import Completed, printed

__all__ = ["LOST", "PodRunner", "opened"]

#: What a session raises whose connection, or whose container, is gone.
LOST = (WebSocketException, OSError)
_STDOUT, _STDERR, _ERROR = 1, 2, 3


@contextmanager
def opened(access: Access, pod: str, container: str, command: Sequence[str]) -> Iterator[Any]:
    """Yield a `WSClient` of a command that runs in the container; its channels are bytes."""
    client = connect(access)
    session = None
    try:
        with asking(client, f"exec in container {container} of pod {access.namespace}/{pod}"):
            session = stream(
                kubernetes.client.CoreV1Api(client).connect_get_namespaced_pod_exec,
                pod,
                access.namespace,
                command=list(command),
                container=container,
                stdin=True,
                stdout=True,
                stderr=True,
                tty=False,
                _preload_content=False,
                binary=True,
            )
        session.sock.settimeout(TIMEOUT_S)
        yield session
    finally:
        if session is not None:
            session.sock.shutdown()  # `close` leaves the socket of a session that ended open
        client.close()


class PodRunner:
    """Runs scripts in one container of a pod."""

    def __init__(self, access: Access, pod: str, container: str) -> None:
        self._access, self._pod, self._container = access, pod, container

    @property
    def where(self) -> str:
        """Which container, for messages."""
        return f"container {self._container} of pod {self._access.namespace}/{self._pod}"

    def run(
        self, text: str, timeout_s: float = 30.0, command: Sequence[str] = ("/bin/sh", "-s")
    ) -> Completed:
        """Run a script and wait for its end; `command` is the shell that reads it."""
        with opened(self._access, self._pod, self._container, command) as session:
            sent = time.monotonic()
            try:
                session.write_stdin(text.encode(errors="surrogateescape"))
                while session.is_open():
                    if time.monotonic() > sent + timeout_s:
                        raise HostError(
                            f"a script did not end within {timeout_s:g} s in {self.where}"
                        )
                    session.update(timeout=0.2)
            except LOST as error:
                raise HostError(f"the connection to {self.where} broke: {error}") from error
            received = time.monotonic()
            output, errors = session.read_channel(_STDOUT), session.read_channel(_STDERR)
            status = self._status(session.read_channel(_ERROR))
        return Completed(status, printed(output), printed(errors), sent, received, sent)

    def _status(self, text: bytes) -> int:
        """Return the exit status that the kubelet tells at the end."""
        try:
            status = json.loads(text)
        except (ValueError, RecursionError):
            raise HostError(f"a script was cut off in {self.where}: did it end meanwhile?") \
                from None  # fmt: skip
        if status.get("status") == "Success":
            return 0
        causes = (status.get("details") or {}).get("causes") or []
        codes = [one.get("message", "") for one in causes if one.get("reason") == "ExitCode"]
        if not codes or not str(codes[0]).isdigit():
            raise HostError(f"no script runs in {self.where}: {status.get('message', status)}")
        return int(codes[0])
