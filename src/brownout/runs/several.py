"""Several runs that are over, read together; all that is wrong with them is said at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError, RunDirectoryError
from brownout.run.directory import RunDirectory

__all__ = ["Finished", "read_several"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is over, with its impact document."""

    path: Path
    impact: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def verdict(self) -> str:
        """The run's own verdict."""
        return str(self.impact["verdict"])

    @property
    def server(self) -> str:
        """What was tested, with its version."""
        return str((self.impact.get("versions") or {}).get("server") or "unknown")


def read_several(names: Sequence[Path | str]) -> list[Finished]:
    """Read runs by path, name or `latest`; raises `ConfigurationError` with every problem."""
    found: list[Finished] = []
    problems: list[str] = []
    for name in names:
        try:
            directory = RunDirectory.find(name)
            found.append(Finished(directory.path, directory.read_impact()))
        except RunDirectoryError as error:
            problems.append(str(error))
    places = [run.path.resolve() for run in found]
    ids = [str(run.impact.get("run_id") or run.run_id) for run in found]
    problems += [
        f"{run.path}: is given twice, wanted each run once: one fault is one repeat"
        for n, run in enumerate(found)
        if places[n] in places[:n] or ids[n] in ids[:n]
    ]
    if problems:
        raise ConfigurationError(problems)
    return found
