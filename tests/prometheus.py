"""The programs of Prometheus for tests: real ones, found on PATH, or a loud skip."""

import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["get", "promtool", "serving", "wanted"]

#: Debian's names of them; upstream's archives have others.
PACKAGES = {
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "prometheus-node-exporter": "prometheus-node-exporter",
    "prometheus-pushgateway": "prometheus-pushgateway",
}
PATIENCE_S = 60.0


def wanted(program: str) -> str:
    """Return where `program` is; skip where it is not."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"NOT TESTED: there is no {program}; apt install {PACKAGES[program]}")
    return found


def promtool(*arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run promtool and return what it said."""
    command = [wanted("promtool"), *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)


def get(url: str) -> str:
    """Return what `url` answers."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())


@contextmanager
def serving(url: str, path: str, *command: str | Path) -> Iterator[str]:
    """Run a program until the block ends; yield its `url`, once it answers `path` there."""
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                get(url + path)
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None, f"{command[0]} ended"
                assert time.monotonic() < deadline, f"{command[0]} does not answer"
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)
