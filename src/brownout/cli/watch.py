"""`brownout watch`: the panel of a run that another shell started."""

import logging
import sys
from pathlib import Path

import typer

from brownout.cli.arguments import Run
from brownout.errors import BrownoutError, RunDirectoryError

__all__ = ["watch"]


def watch(run: Run = Path("latest")) -> None:
    """Watch RUN while it goes on, as the shell that started it shows it; Ctrl-C only ends this.

    When the run is over, its result is shown, with its exit code. A `brownout load` can be
    watched as well.
    """
    from brownout.live.follow import Follower
    from brownout.live.screen import screen_for

    follower = Follower(_find(run))
    screen = screen_for(sys.stderr, follower.board)
    _log_plainly()
    screen.start()
    try:
        ended = follower.await_end()
    finally:
        screen.stop()
    if not ended:
        raise BrownoutError(
            f"the run {follower.path} died before it had put everything back",
            "`brownout heal` does that",
        )
    _result(follower.path)


def _find(run: Path) -> Path:
    """The directory of a run or of a load; a load has no run.json."""
    from brownout.cli.housekeeping import list_runs
    from brownout.run.directory import runs_root

    if str(run) == "latest":
        runs = list_runs()
        if not runs:
            raise RunDirectoryError(f"{runs_root()}: there is no run yet")
        return runs[-1].path
    for path in (run, runs_root() / run):
        if path.is_dir():
            return path
    raise RunDirectoryError(f"{run}: there is no such run directory")


def _log_plainly() -> None:
    """Without a terminal the lines go through Chaos Toolkit's logger, which is silent by itself."""
    logger = logging.getLogger("chaostoolkit")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("[%(asctime)s] %(message)s", "%H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _result(path: Path) -> None:
    from brownout.cli.runs import show

    if (path / "run.json").is_file():
        show(path)
    typer.echo(str(path))
