"""What happens by itself: a run that ends, however it ends, goes to the store that is named.

The verdict never depends on it, and it never fails silently: what could not be copied is an error
in the log and for the caller.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from brownout.base.errors import BrownoutError
from brownout.faults import open_runs
from brownout.machine import procfs
from brownout.run.kept import list_all
from brownout.runs.store.place import Place, find

if TYPE_CHECKING:
    from brownout.runs.store.objects import Objects

__all__ = ["deliver", "deliver_files", "deliver_left", "left"]

logger = logging.getLogger("chaostoolkit")
Complain = Callable[[str], None]


def deliver(folder: Path, complain: Complain = logger.error) -> str | None:
    """Copy `folder` to the store, if one is named; say and return why it is not there, else None.

    It never raises but for a person who wants to stop.
    """

    def copy(objects: "Objects") -> None:
        from brownout.runs.store.push import push

        pushed = push(folder, objects)
        logger.info(f"stored {pushed.files} files in {pushed.url}")

    return _attempt(folder, copy, "`brownout store push` tries it again", complain)


def deliver_files(
    folder: Path, names: Iterable[str], complain: Complain = logger.error
) -> str | None:
    """Copy some files of a folder that may still change, as `deliver` copies one that is over."""

    def copy(objects: "Objects") -> None:
        from brownout.runs.store.push import push_files

        push_files(folder, names, objects)

    return _attempt(folder, copy, "it is tried again with the next one", complain)


def _attempt(
    folder: Path, copy: "Callable[[Objects], None]", advice: str, complain: Complain
) -> str | None:
    try:
        place = find()
        if place is None:
            return None
        from brownout.runs.store.objects import Objects

        copy(Objects(place))
        return None
    except BrownoutError as error:
        why = str(error)
    except Exception as error:  # whatever a driver does, the verdict stands
        why = f"{type(error).__name__}, a bug in the copying"
    complain(f"{folder} is NOT in the store: {why}; {advice}")
    return why


def deliver_left(complain: Complain = logger.error) -> list[str]:
    """Copy what others left behind; return why something is not there, empty if all is."""
    try:
        place = find()
        folders = left(place) if place else []
    except (BrownoutError, OSError) as error:
        complain(f"nothing was copied to the store: {error}")
        return [str(error)]
    return [why for folder in folders if (why := deliver(folder, complain)) is not None]


def left(place: Place) -> list[Path]:
    """Return the runs and game days that are over and not, or not as they are now, in `place`."""
    from brownout.runs.store.push import is_pushed

    held = {Path(claim.run) for claim in open_runs.claims()}
    return [
        kept.path
        for kept in list_all()
        if kept.path.resolve() not in held
        and not is_pushed(kept.path, place)
        and not procfs.users_of(kept.path.resolve())
    ]
