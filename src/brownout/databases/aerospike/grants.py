"""What a user of Aerospike's Enterprise Edition needs; the Community Edition knows no users.

`ask` are info commands that change nothing: a node looks at the user's role before it looks at the
name of a setting.
"""

from brownout.inventory.grants import LOAD, Grant

__all__ = ["GRANTS", "refused"]

GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="the roles `read-write` and `truncate` on the load's namespace",
        statement="asadm: manage acl grant user {user} roles read-write truncate",
    ),
    Grant(
        acts=("quiesce", "add", "remove", "replication_factor", "migration_speed"),
        privilege="the role `sys-admin`",
        statement="asadm: manage acl grant user {user} roles sys-admin",
        ask=("set-config:context=service;brownout-asks-for-its-role=1",),
    ),
)


def refused(answer: str) -> bool:
    """Return whether a node answers that the user's roles do not allow it."""
    return answer.startswith("ERROR:81") or "role violation" in answer
