"""`brownout watch`: the panel of a run that another shell started."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import BrownoutError, RunDirectoryError
from brownout.cli.arguments import complete_run
from brownout.cli.runs import show_impact

__all__ = ["watch"]


Watched = Annotated[
    str,
    typer.Argument(
        help="A run directory, a run's name, `latest`, or where a run shows its metrics: "
        "http://host:port.",
        metavar="RUN",
        autocompletion=complete_run,
    ),
]


def watch(run: Watched = "latest") -> None:
    """Watch RUN live, with the panel of the shell that started it; Ctrl-C ends only the watching.

    When the run is over, shows its result and exits with its code. Also watches a `brownout load`
    and, by its address, a run on another host.
    """
    if run.startswith(("http://", "https://")):
        _watch_address(run)
        return
    from brownout.observe.follow import Follower
    from brownout.show.live.screen import screen_for

    follower = Follower(_find(Path(run)))
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


def _watch_address(url: str) -> None:
    from brownout.observe.distant import DistantRun
    from brownout.show.live.screen import screen_for

    distant = DistantRun(url)
    screen = screen_for(sys.stderr, distant.board)
    _log_plainly()
    screen.start()
    try:
        impact = distant.await_end()
    finally:
        screen.stop()
    if impact is None:
        raise BrownoutError(
            f"{url} is gone, and said no verdict",
            "`brownout show` says it on the host of the run; if the run died, `brownout heal`",
        )
    show_impact(impact, url)


def _find(run: Path) -> Path:
    """The directory of a run or of a load; a load has no run.json."""
    from brownout.run.directory import runs_root
    from brownout.run.kept import list_runs

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
