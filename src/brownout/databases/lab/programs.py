"""Whether a server's program starts on this machine, and is the one that a lab wants."""

import re
import subprocess
from pathlib import Path

__all__ = ["problem"]

_STARTS_WITHIN_S = 30


def problem(program: Path, says: str, wanted: str) -> str | None:
    """Return why a program will not do; None if it does.

    `says` is the pattern of what its `--version` prints, `wanted` what such a program is called.
    """
    if not program.is_file():
        return f"`{program}` is not a file"
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_STARTS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"`{program}` does not start: {getattr(error, 'strerror', None) or error}"
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return f"`{program}` does not start: {lines[0] if lines else f'exit {done.returncode}'}"
    said = (done.stdout or done.stderr).strip()
    if not re.search(says, said):
        return f"`{program}` says {said.partition(chr(10))[0]!r}, wanted {wanted}"
    return None
