"""Taking a member that lost its data for a new one: etcd does not let it back as the old one.

A member promised with its log whom it voted for and what it has. Without the log it may break
these promises, so the others first remove it, and add a new one with the same address.

    listed by its peer URL, has started    ──▶ MemberRemove ──▶ MemberAdd
    listed, has not started                    it was added already
    not listed                             ──▶ MemberAdd
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brownout.base.errors import ClusterError
from brownout.base.wait import wait_until
from brownout.databases.etcd.link import CommandFailed, Link
from brownout.databases.etcd.view import Entry, members_by
from brownout.inventory.model import Node

__all__ = ["take_in"]

#: An election, and what members want to have seen of each other before they change who they are.
_WITHIN_S = 60.0
_POLL_S = 0.2
_ORDER_S = 10.0


def take_in(node: Node, peer_url: str, others: Callable[[], Sequence[Link]]) -> Mapping[str, Any]:
    """Have the cluster take `node`, which has no data, for a new member; safe to repeat.

    `others` returns links to members that serve. Returns what was done for the event of its start.
    """
    done: dict[str, Any] = {}

    def attempt() -> bool:
        for other in others():
            return _once(other, peer_url, done)
        raise ClusterError(f"no other member serves, so none can take `{node.name}` in")

    wait_until(attempt, _WITHIN_S, _POLL_S, despite=ClusterError)
    return done


def _once(other: Link, peer_url: str, done: dict[str, Any]) -> bool:
    old = _listed(other, peer_url)
    if old is not None and not old.name:
        done.setdefault("added_member", old.id)
        return True
    if old is not None:
        try:
            other.ask("cluster/member/remove", _ORDER_S, ID=old.id)
        except CommandFailed as error:
            if "member not found" not in error.reply:
                raise
        done["removed_member"] = old.id
    added = other.ask("cluster/member/add", _ORDER_S, peerURLs=[peer_url])
    done["added_member"] = str(added["member"]["ID"])
    return True


def _listed(other: Link, peer_url: str) -> Entry | None:
    return next((entry for entry in members_by(other) if peer_url in entry.peer_urls), None)
