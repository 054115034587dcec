"""Packages of strangers, installed by pip as anybody would, beside ours."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Install a package with its entry points; returns what `PYTHONPATH` has to name."""

    def installed(package: Path) -> Path:
        where = tmp_path_factory.mktemp(package.name)
        source = shutil.copytree(package, where / "source")  # building leaves files beside it
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
        built = ["--no-build-isolation", "--target", str(where / "site"), str(source)]
        subprocess.run([*pip, *built], check=True)
        return where / "site"

    return installed
