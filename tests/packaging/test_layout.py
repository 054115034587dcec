"""The root folders reach the package whole, in a checkout and in an installed wheel alike."""

from importlib.resources import as_file, files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("actions", "probes", "experiments", "steady-state", "dashboards", "infra")
KINDS = {".py", ".json", ".yaml", ".yml", ".conf", ".in", ".js", ".crontab", ".service", ".timer"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_a_root_folder_is_in_the_package(folder: str) -> None:
    wanted = {
        path.relative_to(ROOT / folder)
        for path in (ROOT / folder).rglob("*")
        if path.suffix in KINDS and "__pycache__" not in path.parts
    }
    with as_file(files("brownout") / folder) as packaged:
        missing = sorted(str(path) for path in wanted if not (packaged / path).is_file())
    assert missing == []


def test_the_load_generator_is_in_the_package_and_says_our_version() -> None:
    import subprocess
    from importlib.metadata import version

    from brownout.base.binary import find_loadgen

    told = subprocess.run(
        [find_loadgen(), "-version"], capture_output=True, text=True, check=True
    ).stdout
    assert told.startswith(version("brownout"))
