"""What a user of etcd needs; `ask` is a role, or a permission with its prefix."""

from base64 import b64decode
from collections.abc import Mapping

from brownout.inventory.grants import LOAD, Grant

__all__ = ["GRANTS", "ROOT", "covers"]

#: The role that may do everything.
ROOT = "root"

GRANTS = (
    Grant(
        acts=(LOAD,),
        privilege="reading and writing the keys below `{namespace}/`",
        statement=(
            "etcdctl role add brownout; etcdctl role grant-permission brownout --prefix=true "
            "readwrite {namespace}/; etcdctl user grant-role {user} brownout"
        ),
        ask=("{namespace}/",),
    ),
    Grant(
        acts=("stepdown", "wipe"),
        privilege="the role `root`: moving the leader, removing and adding a member",
        statement="etcdctl user grant-role {user} root",
        ask=(ROOT,),
    ),
)


def covers(prefix: str, permission: Mapping[str, str]) -> bool:
    """Return whether a permission of a role, as etcd's JSON has it, is to read and write a prefix.

    {"permType": "READWRITE", "key": "YnJvd25vdXQv", "range_end": "YnJvd25vdXQw"}
    """
    if permission.get("permType") != "READWRITE":
        return False
    key, end = (b64decode(permission.get(name, "")) for name in ("key", "range_end"))
    last = prefix.encode()[:-1] + bytes([prefix.encode()[-1] + 1])
    return key <= prefix.encode() and (end == b"\0" or end >= last)
