"""Which process serves a node's address: proven by a connection that is seen at both ends.

An inventory may give one node the address of another, or have been edited half-way. What is asked
of the address and what is done to the process would then be about two nodes. So a connection is
made to the address, and the hosts are asked whose process has the other end of it:

    us 10.0.0.9:50412 ──▶ 10.0.0.2:27017 ──▶ …        /proc/net/tcp: 10.0.0.9:50412, inode 8812
                                                       /proc/4711/fd/21 → socket:[8812]

A proxy, a load balancer or translated addresses hide the other end; then nothing is proven.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from typing import Literal

from brownout.base.errors import BrownoutError
from brownout.base.wait import wait_until
from brownout.inventory.model import Node
from brownout.machine.commands import Runner, answer, script
from brownout.machine.host import Connection, host_for

__all__ = ["SCRIPTS", "Served", "holds", "served_by"]

_CONNECT_S = 2.0
#: A server takes a connection within this, unless it hangs.
_ACCEPT_S = 0.5
_POLL_S = 0.05

#: `$1` is a process of the node, `$2` and `$3` how /proc/net/tcp and tcp6 write our end. Prints who
#: has the other end, with all processes above it.
_HOLDERS = """\
inodes=
for table in "/proc/$1/net/tcp" "/proc/$1/net/tcp6"; do
  { while read -r number local remote state queues timer retransmitted user timeout inode rest; do
    case $remote in "$2"|"$3") [ "$inode" = 0 ] || inodes="$inodes $inode";; esac
  done < "$table"; } 2>/dev/null
done
echo "own $(cat "/proc/$1/comm" 2>/dev/null)"
[ -n "$inodes" ] || return 0
ls -l /proc/[0-9]*/fd 2>/dev/null | while read -r line; do
  case $line in
    /proc/*/fd:) pid=${line#/proc/}; pid=${pid%/fd:};;
    *socket:*)
      for inode in $inodes; do
        case $line in *"socket:[$inode]"*) echo "holder $pid";; esac
      done;;
  esac
done | sort -u | while read -r word pid; do
  echo "holder $pid $(cat "/proc/$pid/comm" 2>/dev/null)"
  above=
  while [ "${pid:-0}" -gt 1 ]; do
    { IFS= read -r stat < "/proc/$pid/stat"; } 2>/dev/null || break
    set -- ${stat##*) }
    pid=$2; above="$above $pid"
  done
  echo "above$above"
done
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"serves": _HOLDERS}


@dataclass(frozen=True, slots=True)
class Served:
    """Who serves a node's address: its `own` process, or that of an `other` node."""

    by: Literal["own", "other", "unknown"]
    detail: str


def served_by(node: Node, nodes: Sequence[Node]) -> Served:
    """Return who of `nodes` serves the address of `node`, as far as that can be proven.

    Connects to it once and closes the connection; nothing is sent.
    """
    if node.host is None:
        return Served("unknown", "it has no `host`, so nothing can be done to it")
    proxy = getattr(node.host, "proxy", None)  # one that a lab put in front of the process
    try:
        with _connected(node.address if proxy is None else proxy.upstream) as connection:
            own = _asked(node, connection)
            if own:
                return Served("own", f"its process serves {node.address}")
            for other in nodes:
                if other != node and other.host is not None and _asked(other, connection, 0.0):
                    return Served(
                        "other",
                        f"the process of node `{other.name}` serves {node.address}, the address "
                        f"of node `{node.name}`",
                    )
            if own is False:
                return Served(
                    "other", f"a process that is not the node's own serves {node.address}"
                )
    except OSError as error:
        return Served("unknown", f"{node.address} does not answer: {error.strerror or error}")
    with suppress(BrownoutError):
        if not host_for(node).running().running:
            return Served(
                "other",
                f"{node.address} answers, but its host finds no process of node `{node.name}`: the "
                "`command`, `pid_file` or `service` of the inventory is not what runs there",
            )
    return Served("unknown", f"not proven: the way to {node.address} hides which process serves it")


def holds(runner: Runner, pids: Sequence[int], connection: Connection) -> bool | None:
    """Return whether one of `pids`, or a process below one, has the connection's other end.

    False where another process of the same program has it, so that it is another node's; None where
    it is not seen, or a proxy has it.
    """
    if not pids:
        return None
    text = script(_HOLDERS, pids[0], *_in_proc(*connection.ours))
    reply = answer(runner.run(text), "looking for the process that serves", runner.where)
    holders = reply.all("holder")
    for holder, above in zip(holders, reply.all("above"), strict=False):
        family = {int(holder.split()[0]), *map(int, above.split())}
        if family & set(pids):
            return True
    programs = {holder.partition(" ")[2] for holder in holders}
    return False if reply.get("own") in programs else None


def _asked(node: Node, connection: Connection, within_s: float = _ACCEPT_S) -> bool | None:
    """Ask the host of a node whether it has the other end; a server may not have taken it yet."""
    with suppress(BrownoutError):
        host = host_for(node)
        return wait_until(
            lambda: host.serves(connection), within_s, _POLL_S, so=lambda serves: serves is not None
        )
    return None


@contextmanager
def _connected(address: str) -> Iterator[Connection]:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S) as link:
        ours, theirs = link.getsockname()[:2], link.getpeername()[:2]
        yield Connection((str(ours[0]), int(ours[1])), (str(theirs[0]), int(theirs[1])))


def _in_proc(address: str, port: int) -> tuple[str, str]:
    """Return how the kernel writes an address in /proc/net/tcp and in tcp6.

    Each group of four bytes is written as a number of this kind of machine, little-endian.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        plain = ip.packed[::-1].hex().upper()
        return f"{plain}:{port:04X}", f"0000000000000000FFFF0000{plain}:{port:04X}"
    groups = [ip.packed[n : n + 4][::-1].hex().upper() for n in range(0, 16, 4)]
    six = f"{''.join(groups)}:{port:04X}"
    mapped = ip.ipv4_mapped
    return (_in_proc(str(mapped), port)[0] if mapped else six), six
