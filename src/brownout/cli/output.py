"""Where a command writes: its progress, and `--output` with the format of a file by its suffix."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from brownout.base.errors import ConfigurationError

__all__ = ["DIRECTORY", "STDOUT", "by_format", "however_it_ends", "output_option", "say"]

#: What `by_format` calls a directory to write into, and stdout, which `-` stands for.
DIRECTORY, STDOUT = "a directory", "-"


def output_option(help: str) -> Any:
    """Return a typer option for one path, or for several if its type is a list."""
    return typer.Option("--output", "-o", help=help, metavar="<path>")


def by_format(paths: Sequence[Path], *formats: str) -> list[tuple[str, Path]]:
    """Return each path after its format, one of `formats`: a suffix, `DIRECTORY` or `STDOUT`.

    Raises `ConfigurationError` with every path that has none of them, or no folder to be in.
    """
    outputs, problems = [], []
    for path in paths:
        form = _format(path)
        if form not in formats:
            problems.append(f"--output: found `{path}`, wanted {_words(formats)}")
        elif form not in (DIRECTORY, STDOUT) and not path.parent.is_dir():
            problems.append(f"--output: found `{path}`, but there is no folder `{path.parent}`")
        outputs.append((form, path))
    if problems:
        raise ConfigurationError(problems)
    return outputs


def _format(path: Path) -> str:
    if str(path) == STDOUT:
        return STDOUT
    return DIRECTORY if path.is_dir() else path.suffix or DIRECTORY


def _words(formats: Sequence[str]) -> str:
    others = {DIRECTORY: DIRECTORY, STDOUT: "`-` for stdout"}
    suffixes = " or ".join(f"`{each}`" for each in formats if each not in others)
    rest = [others[each] for each in formats if each in others]
    return " or ".join([f"a file that ends in {suffixes}", *rest])


def say(words: str) -> None:
    """Print a line of progress on stderr, with the time of day."""
    typer.echo(f"[{datetime.now():%H:%M:%S}] {words}", err=True)


@contextmanager
def however_it_ends(write: Callable[[], object]) -> Iterator[None]:
    """Have `write` write the page of what the block has made, also where an error ends that.

    What then is in the way of the page is said, and does not hide the error.
    """
    try:
        yield
    except BaseException:
        try:
            write()
        except (Exception, KeyboardInterrupt) as error:
            say(f"the page is not written: {str(error) or 'stopped'}")
        raise
    write()
