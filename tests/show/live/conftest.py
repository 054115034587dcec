"""A finished run, to be played back as if it were going on."""

from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run
from tests.show.live.replay import Replay

LIMITS = (
    {"measure": "recovery_time", "limit": 10.0, "scope": "total"},
    {"measure": "blackout", "limit": 6.0, "scope": "total"},
    {"measure": "lost_operations", "limit": 2000, "scope": "total"},
    {"measure": "availability", "limit": 0.1, "scope": "total"},
    {"measure": "redundancy_time", "limit": 60.0, "scope": "total"},
    {"measure": "errors", "limit": 9, "scope": "write"},
)
SCRIPT = RunScript(duration_s=48, limits=LIMITS[:-1])


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node killed at 25.4 s, nothing served for 2.9 s, redundant at 34.2 s; it passes."""
    return build_run(tmp_path_factory.mktemp("finished"), SCRIPT)


@pytest.fixture
def replay(finished: Path, tmp_path: Path) -> Replay:
    """The same run, of which nothing has happened yet."""
    return Replay(finished, tmp_path / "runs" / finished.name)
