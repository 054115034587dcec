"""Break one node, or undo that. `node` is a name or `target`: who has its role before the break.

Every action writes its intent before it acts, proves its effect, and returns the evidence:
`{"node": "n1", "effective": 20.412, "evidence": {"pid": 4711, "gone": true}}` with the time of
effect in seconds since the load began. Each is safe to repeat: what is already so stays so.

They are made from the faults of `brownout.faults`, and those of other packages that say
`module = "node"`; only `put_back` is written here.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import UndoFailed
from brownout.session.activity import actions_of, activity
from brownout.session.current import current, is_open

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(["put_back", *_MADE])


@activity
def put_back(configuration: Configuration = None, secrets: Secrets = None) -> dict[str, Any]:
    """Undo whatever this run broke and has not undone yet: the rollback of every experiment.

    Returns what it undid, `{"mended": {"n1": "start_node"}}`; every node is tried even if
    one fails, and what could not be undone is named.
    """
    if not is_open() or not current().may_have_broken:
        return {"mended": {}}
    session = current()
    broken = session.faults.broken
    failures = session.faults.put_back()
    if failures:
        raise UndoFailed("; ".join(failures), "repair the nodes named here by hand")
    return {"mended": broken}
