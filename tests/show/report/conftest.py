"""Runs that reports are made of, and a real browser to read them in."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from tests.run_builder import RunScript, build_run

from brownout.show.report import html

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
LIMITS = (
    {"measure": "blackout", "limit": 5.0, "scope": "total", "limit_from": "steady-state/slo/x.yaml",
     "why": "an election takes 2 to 3 s"},
    {"measure": "recovery_time", "limit": 10.0, "scope": "total", "limit_from": "--var limits",
     "why": "users retry for 10 s"},
    {"measure": "lost_writes", "limit": 0.0, "scope": "total", "limit_from": "experiment",
     "why": "a majority has them"},
    {"measure": "availability", "limit": 0.5, "scope": "write", "limit_from": "environment",
     "why": "<b>writes</b> & reads"},
)  # fmt: skip


@dataclass(frozen=True)
class Reported:
    """A run with its report."""

    path: Path
    impact: dict[str, Any]
    page: Path

    @property
    def text(self) -> str:
        return self.page.read_text("utf-8")


def report_of(root: Path, script: RunScript) -> Reported:
    """Build the run of `script` and make its report."""
    path = build_run(root, script)
    page = html.write(path)
    return Reported(path, json.loads((path / "impact.json").read_text()), page)


@pytest.fixture(scope="session")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """A node was killed for 2.9 s under 400/s; every limit was met."""
    return report_of(tmp_path_factory.mktemp("killed"), RunScript(limits=LIMITS))


@pytest.fixture(scope="session")
def standing_in(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The same on a stand-in."""
    cluster = {"name": "lab-aerospike", "database": "aerospike", "engine": "stand-in 0.1.0",
               "members": 3, "environment": "lab", "stand_in": True, "nodes": []}  # fmt: skip
    script = RunScript(limits=LIMITS, run={"cluster": cluster})
    return report_of(tmp_path_factory.mktemp("standing"), script)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A real Chromium without a window."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are needed: apt-get install chromium-driver")
    options = ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=Service(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
