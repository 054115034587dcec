"""What a user of MongoDB needs; `ask` names actions, of the cluster or of a database.

`connectionStatus` with `showPrivileges` lists a login's own privileges; every login may ask.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from brownout.inventory.grants import EVERY_RUN, LOAD, Grant

__all__ = ["GRANTS", "allowed", "hint_for"]

_CLUSTER = "cluster"
#: The action that a command needs, where it has another name.
_ACTIONS = {
    "replSetStepDown": "replSetStateChange",
    "replSetFreeze": "replSetStateChange",
    "replSetReconfig": "replSetConfigure",
}


def _role(name: str, database: str = "admin") -> str:
    return (
        'db.getSiblingDB("admin").grantRolesToUser("{user}", '
        f'[{{role: "{name}", db: "{database}"}}])'
    )


GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="the role `readWrite` on the database `{namespace}`",
        statement=_role("readWrite", "{namespace}"),
        ask=tuple(
            f"{{namespace}}:{action}"
            for action in ("find", "insert", "update", "remove", "createIndex", "dropCollection")
        ),
    ),
    Grant(
        acts=(EVERY_RUN,),
        privilege="the role `clusterMonitor`",
        statement=_role("clusterMonitor"),
        ask=tuple(
            f"{_CLUSTER}:{action}"
            for action in ("replSetGetStatus", "replSetGetConfig", "serverStatus", "getCmdLineOpts")
        ),
    ),
    Grant(
        acts=("stepdown", "add", "remove", "votes_and_priority"),
        privilege="the role `clusterManager`",
        statement=_role("clusterManager"),
        ask=(f"{_CLUSTER}:replSetStateChange", f"{_CLUSTER}:replSetConfigure"),
    ),
    Grant(
        acts=("oplog_mb",),
        privilege="the role `hostManager`",
        statement=_role("hostManager"),
        ask=(f"{_CLUSTER}:replSetResizeOplog",),
    ),
)


def allowed(asked: str, privileges: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a login with these privileges may do `cluster:action` or `database:action`."""
    place, _, action = asked.partition(":")
    return any(
        action in privilege["actions"] and _covers(privilege["resource"], place)
        for privilege in privileges
    )


def hint_for(command: str) -> str:
    """Return the role that a command of the cluster needs; empty for one that is not known."""
    asked = f"{_CLUSTER}:{_ACTIONS.get(command, command)}"
    names = [grant.privilege for grant in GRANTS if asked in grant.ask]
    return f"give it {names[0]}" if names else ""


def _covers(resource: Mapping[str, Any], place: str) -> bool:
    if resource.get("anyResource"):
        return True
    if place == _CLUSTER:
        return bool(resource.get("cluster"))
    return resource.get("db") in ("", place) and resource.get("collection") == ""
