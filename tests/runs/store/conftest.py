"""A store in a folder, and a run that is to be copied there."""

from pathlib import Path

import pytest
from tests.cli.conftest import brownout, home
from tests.run_builder import RunScript, build_run

__all__ = ["brownout", "home", "run", "stored"]


@pytest.fixture
def stored(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder behind the store that `BROWNOUT_STORE` names."""
    folder = home / "bucket" / "prefix"
    monkeypatch.setenv("BROWNOUT_STORE", f"file://{folder}")
    return folder


@pytest.fixture
def run(home: Path) -> Path:
    """A whole run, with a secret left in a log by mistake."""
    made = build_run(home / "runs", RunScript(duration_s=45, rate=150))
    (made / "generator.log").write_text("dial mongodb://app:hunter2@db1:27017 failed\n")
    return made
