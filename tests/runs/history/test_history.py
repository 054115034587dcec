"""Runs go into the history when they end; `brownout history` shows them, in a browser too."""

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.color import Color
from tests.cli.conftest import Brownout, brownout, home
from tests.run_builder import RunScript, build_run
from tests.show.report.conftest import browser
from tests.show.report.test_browser import colours

from brownout.base.secret import environment_without_secrets
from brownout.run.directory import RunDirectory
from brownout.runs.history.record import record_quietly
from brownout.session.conclusion import conclude
from brownout.show.report.palette import DARK, LIGHT

__all__ = ["brownout", "browser", "home"]

LIMITS = ({"measure": "blackout", "limit": 5.0, "scope": "total", "why": "<b>users</b> leave"},)


def releases(root: Path) -> Sequence[Path]:
    """Two releases of one server, three runs each; the second is slower, one never recovers."""
    outages = {"v1.4": (2.6, 2.9, 2.7), "v1.5 <next>": (5.6, 6.1, 60.0)}
    made = []
    for day, (release, lengths) in enumerate(outages.items(), 20):
        for n, outage in enumerate(lengths):
            versions = {"server": "mongod 6.0.5", "release": release, "brownout": "0.1.0"}
            name = f"202611{day}T1{n}0000Z-node-kill-{day}{n}"
            script = RunScript(name=name, duration_s=50, rate=120, outage_s=outage, limits=LIMITS,
                               run={"versions": versions})  # fmt: skip
            made.append(build_run(root, script))
    return made


@pytest.fixture
def kept(brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history of two releases; returns its page."""
    monkeypatch.delenv("BROWNOUT_HISTORY", raising=False)
    said = brownout("history", "add", *releases(home / "runs"), "--occasion", "a release")
    assert said.code == 0, said.err
    assert brownout("history", "-o", home / "history.html").code == 0
    return home / "history.html"


def test_a_run_is_recorded_when_it_ends(
    home: Path, monkeypatch: pytest.MonkeyPatch, brownout: Brownout
) -> None:
    monkeypatch.delenv("BROWNOUT_HISTORY", raising=False)
    monkeypatch.setenv("BROWNOUT_OCCASION", "nightly")
    run = build_run(home / "runs", RunScript(duration_s=45))
    ended = conclude(RunDirectory.open(run), {}, lambda _: None, record_quietly)
    assert ended.verdict == "pass"
    (told,) = json.loads(brownout("history", "--json").out)["runs"]
    assert (told["run"], told["verdict"], told["occasion"]) == (run.name, "pass", "nightly")
    assert told["measures"]["recovery_time"] > 2
    assert told["versions"]["driver"] == "go.mongodb.org/mongo-driver/v2 2.9.3"


@pytest.mark.parametrize("where", ["postgresql://u:hunter2@127.0.0.1:1/d", "/dev/null/history",
                                   "mysql://u:hunter2@h/d"])  # fmt: skip
def test_a_broken_history_is_said_and_changes_no_verdict(
    where: str, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BROWNOUT_HISTORY", where)
    run = build_run(home / "runs", RunScript(duration_s=45))
    with caplog.at_level(logging.WARNING, "chaostoolkit"):
        impact = conclude(RunDirectory.open(run), {}, lambda _: None, record_quietly)
    assert impact.verdict == "pass"
    assert "the pass is not in the history" in caplog.text
    assert "hunter2" not in caplog.text
    assert "BROWNOUT_HISTORY" not in environment_without_secrets()


def test_the_terminal_shows_a_table_for_each_kind(kept: Path, brownout: Brownout) -> None:
    said = brownout("history")
    assert (
        "node-kill (kill) on lab-mongodb, workload lab, 120/s open loop, deadline 1 s" in said.out
    )
    rows = [line for line in said.out.splitlines() if line.startswith("2026-11-")]
    assert [("✓ pass" in row, "never" in row) for row in rows] == [
        (True, False), (True, False), (True, False), (False, False), (False, False), (False, True),
    ]  # fmt: skip
    assert "6 runs in sqlite:///" in said.err
    assert (
        brownout("history", "--last", "2", "--scenario", "node-kill").out.count("2026-11-21") == 2
    )
    assert brownout("history", "--cluster", "staging").out.strip() == ""


def test_runs_at_different_rates_are_never_one_curve(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BROWNOUT_HISTORY", raising=False)
    runs = [
        build_run(home / "runs", RunScript(name=f"20261120T1{n}0000Z-node-kill-{n}", rate=rate,
                                           duration_s=45))
        for n, rate in enumerate((120, 240, 120))
    ]  # fmt: skip
    assert brownout("history", "add", *runs).code == 0
    said = brownout("history").out
    assert [said.count(f"workload lab, {rate}/s open loop") for rate in (120, 240)] == [1, 1]
    slow = said.index("workload lab, 120/s")
    assert said[slow:].count("2026-11-20 1") - said[said.index("workload lab, 240/s"):].count(
        "2026-11-20 1"
    ) == 2  # fmt: skip


def test_without_a_history_it_says_so(
    brownout: Brownout, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_HISTORY", "off")
    assert brownout("history").code == 64


def test_the_page_in_a_browser_shows_every_measure_with_the_releases_marked(
    browser: Chrome, kept: Path
) -> None:
    text = kept.read_text()
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)|\ssrc=", text)
    assert "<next>" not in text
    browser.get(kept.as_uri())
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
    trends = browser.find_elements(By.CSS_SELECTOR, "figure.picture")
    assert len(trends) == 6
    for trend in trends:
        marks = trend.find_elements(By.CSS_SELECTOR, "text.release")
        assert [mark.text for mark in marks] == [
            "v1.4 · mongod 6.0.5",
            "v1.5 <next> · mongod 6.0.5",
        ]
        assert trend.is_displayed()
        assert trend.rect["width"] > 300
    recovery = next(t for t in trends if "service recovered" in t.text)
    forms = [len(recovery.find_elements(By.CSS_SELECTOR, f)) for f in
             ("path.pass", "path.fail", "path.never")]  # fmt: skip
    assert forms == [3, 2, 1]
    passed = recovery.find_element(By.CSS_SELECTOR, "path.pass")  # in the page's own colours
    for scheme, palette in (("light", LIGHT), ("dark", DARK)):
        colours(browser, scheme)
        good = Color.from_string(palette["good"]).rgba
        assert Color.from_string(passed.value_of_css_property("fill")).rgba == good
    blackout = next(t for t in trends if "total outage" in t.text)
    assert "limit 5 s" in blackout.text
    assert len(browser.find_elements(By.CSS_SELECTOR, "tbody tr")) == 6
    for width in (390, 1280):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.refresh()
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width
