"""One line of `brownout doctor`: what was looked at, whether it will do, how to fix it."""

import os
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

__all__ = ["EVERY_RUN", "THE_LAB", "Finding", "program", "version_of"]

EVERY_RUN = "every run"
THE_LAB = "the lab"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, whether it will do, what was found; `purpose` says who needs it."""

    name: str
    ok: bool
    found: str
    purpose: str
    remedy: str

    @property
    def needed(self) -> bool:
        """Whether no run, or none on the cluster that was named, can do without it."""
        return self.purpose.startswith(EVERY_RUN)


def program(names: str | tuple[str, ...], purpose: str, remedy: str) -> Finding:
    """Return whether one of these is on PATH, or where an administrator's programs lie."""
    listed = (names,) if isinstance(names, str) else names
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    binary = next((place for name in listed if (place := shutil.which(name, path=path))), None)
    return Finding(listed[0], binary is not None, binary or "not found", purpose, remedy)


def version_of(package: str) -> str | None:
    """Return the version of an installed distribution; None where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
