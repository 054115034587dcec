"""What database exporters said once, said again: their own programs are in no registry here.

Each file of `recorded/` is one exporter's answer, its first lines say of which and when. Gauges
stand still; what counts operations grows with each answer by a tenth of what was recorded, or
there would be no rate of it. That queries find them is what they are for, not what they say.
"""

import itertools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["exporters"]

COUNTS = re.compile(
    r"^(mongodb_ss_op(?:counters|Latencies_\w+)|aerospike_namespace_client_\w+"
    r"|pg_stat_database_(?:xact|tup)_\w+|(?:cassandra|etcd|grpc|redis)_\w+_(?:total|count|bucket))"
    r"(\{[^}]*\}|) (\S+)$",
    re.MULTILINE,
)
RECORDED = Path(__file__).parent / "recorded"


@contextmanager
def exporters() -> Iterator[dict[str, list[str]]]:
    """Serve every recording; yield the addresses by job, as `{"mongodb": ["127.0.0.1:…", …]}`."""
    servers: list[ThreadingHTTPServer] = []
    found: dict[str, list[str]] = {}
    try:
        for path in sorted(RECORDED.glob("*.prom")):
            server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(path.read_text()))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            servers.append(server)
            job = path.stem.partition("-")[0]
            found.setdefault(job, []).append(f"127.0.0.1:{server.server_address[1]}")
        yield found
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def _answering(recorded: str) -> type[BaseHTTPRequestHandler]:
    answers = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = _grown(recorded, 1 + next(answers) / 10).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Handler


def _grown(recorded: str, times: float) -> str:
    return COUNTS.sub(lambda m: f"{m[1]}{m[2]} {float(m[3]) * times:.9g}", recorded)
