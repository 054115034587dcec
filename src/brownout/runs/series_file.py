"""The file that plans a series of runs: a book, a comparison of clients, a game day."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import PrivateAttr, ValidationError

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.base.files import is_file
from brownout.base.problems import from_validation
from brownout.base.settings import Name, Settings
from brownout.base.settings_file import parse_yaml, read_text

__all__ = ["SeriesFile", "read"]


class SeriesFile(Settings):
    """What every such file says."""

    name: Name
    title: str = ""
    _path: Path = PrivateAttr(default=Path("series.yaml"))

    @property
    def path(self) -> Path:
        """The file it was read from."""
        return self._path

    def find_experiment(self, name: str) -> Path:
        """Return the file of an experiment: beside this file, or as everywhere else."""
        beside = self.path.parent / name
        return beside if is_file(beside) else catalog.find_experiment(name)


File = TypeVar("File", bound=SeriesFile)


def read(
    text: str,
    folder: str,
    what: str,
    model: type[File],
    problems: Callable[[File], Iterable[str]],
) -> File:
    """Return what a file says, or a shipped one of `folder` by its name.

    `what` is how messages call such a file, `problems` finds what the model alone cannot. Raises
    `ConfigurationError` with every problem at once.
    """
    path = catalog.find_file(folder, text)
    data: dict[str, Any] = {"name": path.stem, **parse_yaml(read_text(path, what), str(path))}
    try:
        file = model.model_validate(data, context={"base": str(path.parent)})
    except ValidationError as error:
        invalid = from_validation(error, model)
        raise ConfigurationError([f"{path}: {problem}" for problem in invalid]) from error
    file._path = path
    if mistakes := list(dict.fromkeys(problems(file))):
        raise ConfigurationError([f"{path}: {problem}" for problem in mistakes])
    return file
