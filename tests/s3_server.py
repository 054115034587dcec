"""A real S3 server for tests: versitygw in front of a folder, as `make kubernetes` built it."""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from brownout.databases.lab.ports import reserve_ports

__all__ = ["BUCKET", "S3Server", "serving"]

BUCKET = "evidence"
_BUILT = Path(__file__).parents[1] / "build/kubernetes/versitygw"
_PATIENCE_S = 60.0


@dataclass
class S3Server:
    """One server, its bucket, and what a client needs to know; `stop` and `start` as wanted."""

    folder: Path
    port: int = field(init=False)
    key: str = "brownout-tests"
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        (self.port,) = reserve_ports(1, self.folder.parent)

    @property
    def environment(self) -> dict[str, str]:
        """What names the store and lets a client in."""
        return {
            "BROWNOUT_STORE": f"s3://{BUCKET}/runs",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
        }

    @property
    def bucket(self) -> Path:
        """The folder in which its objects are files."""
        return self.folder / BUCKET

    def start(self) -> None:
        """Start it and return once it answers."""
        if not os.access(_BUILT, os.X_OK):
            raise FileNotFoundError(f"{_BUILT} is no program: build it with `make kubernetes`")
        self.bucket.mkdir(parents=True, exist_ok=True)
        command = [str(_BUILT), "--port", f"127.0.0.1:{self.port}", "--access", self.key,
                   "--secret", self.secret, "--quiet", "posix", str(self.folder)]  # fmt: skip
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, "the S3 server ended"
            assert time.monotonic() < deadline, "the S3 server does not answer"
            time.sleep(0.02)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True


@contextmanager
def serving(folder: Path) -> Iterator[S3Server]:
    """Run a server in front of `folder` until the block ends."""
    server = S3Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
