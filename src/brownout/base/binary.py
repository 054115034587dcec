"""Where the load generator's binary is, and running it as it is."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from brownout.base.errors import GeneratorError

__all__ = ["VARIABLE", "find_loadgen", "loadgen_version", "main"]

#: Names a binary to use instead of the package's own.
VARIABLE = "BROWNOUT_LOADGEN"


def find_loadgen() -> Path:
    """Return the load generator's binary: `BROWNOUT_LOADGEN`, else the package's.

    Raises `GeneratorError`, naming every place that was looked at.
    """
    named = os.environ.get(VARIABLE)
    packaged = Path(str(files("brownout") / "bin" / "loadgen"))
    if named:
        if _usable(Path(named)):
            return Path(named)
        raise GeneratorError(
            f"`{VARIABLE}` names `{named}`, which is not an executable file",
            f"correct it, or unset it to use `{packaged}`",
        )
    if _usable(packaged):
        return packaged
    raise GeneratorError(
        f"the load generator was not found: {VARIABLE} is not set, and `{packaged}` is not an "
        "executable file",
        "build it with `make setup`, or install a wheel of brownout",
    )


def _usable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def loadgen_version() -> str:
    """Return the version that the binary gives itself."""
    binary = find_loadgen()
    try:
        done = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GeneratorError(
            f"`{binary} --version` failed: {error}", "build it again with `make setup`"
        ) from error
    return done.stdout.strip()


def main() -> None:
    """Become the load generator: `brownout-loadgen …` is the binary with the same arguments."""
    try:
        binary = find_loadgen()
    except GeneratorError as error:
        sys.exit(str(error))
    os.execv(binary, [str(binary), *sys.argv[1:]])
