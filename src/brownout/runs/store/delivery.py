"""What happens by itself: a run that ends, however it ends, goes to the store that is named.

The verdict never depends on it, and it never fails silently: what could not be copied is an error
in the log and for the caller.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import BrownoutError
from brownout.faults import open_runs
from brownout.machine import procfs
from brownout.run.kept import list_all
from brownout.runs.store.place import Place, find

__all__ = ["deliver", "deliver_left", "left"]

logger = logging.getLogger("chaostoolkit")
Complain = Callable[[str], None]


def deliver(folder: Path, complain: Complain = logger.error) -> str | None:
    """Copy `folder` to the store, if one is named; say and return why it is not there, else None.

    It never raises but for a person who wants to stop.
    """
    try:
        place = find()
        if place is None:
            return None
        from brownout.runs.store.objects import Objects
        from brownout.runs.store.push import push

        pushed = push(folder, Objects(place))
        logger.info(f"stored {pushed.files} files in {pushed.url}")
        return None
    except BrownoutError as error:
        why = str(error)
    except Exception as error:  # whatever a driver does, the verdict stands
        why = f"{type(error).__name__}, a bug in the copying"
    complain(f"{folder} is NOT in the store: {why}; `brownout store push` tries it again")
    return why


def deliver_left(complain: Complain = logger.error) -> list[str]:
    """Copy what others left behind; return why something is not there, empty if all is."""
    try:
        place = find()
        folders = left(place) if place else []
    except BrownoutError as error:
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
