"""A server for links to single nodes: it answers what a test says, and counts the requests."""

import socket
import threading

__all__ = ["Script", "ScriptServer"]

#: What one connection answers to each request; None closes it before.
Script = list[bytes | None]


class ScriptServer:
    """Plays one script per connection; a request is what arrives at once."""

    def __init__(self, *scripts: Script) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._accept, args=(scripts,), daemon=True)
        self._thread.start()

    def _accept(self, scripts: tuple[Script, ...]) -> None:
        for script in scripts:
            client, _ = self._listener.accept()
            threading.Thread(target=self._play, args=(client, script), daemon=True).start()

    def _play(self, client: socket.socket, script: Script) -> None:
        with client:
            for answer in script:
                if answer is None or not (request := client.recv(65536)):
                    return
                self.requests.append(request)
                client.sendall(answer)
            self._over.wait(60)

    def close(self) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
