"""A real HTTP server that answers GET in the place of Kubernetes' API server."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

__all__ = ["api_server"]


@contextmanager
def api_server(answer: Callable[[str], tuple[int, str]], directory: Path) -> Iterator[Path]:
    """Serve the status and the body that `answer` gives for a path; yield the kubeconfig."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = answer(self.path)
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = {"server": f"http://127.0.0.1:{server.server_port}"}
        kubeconfig = directory / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": address}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }))  # fmt: skip
        try:
            yield kubeconfig
        finally:
            server.shutdown()
            thread.join(10)
