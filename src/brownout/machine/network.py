"""Cutting a node off from others, in the network namespace that it has to itself.

The namespace (a lab makes it) has an interface `void` that leads nowhere. An address is cut by a
route to it through `void`: what is sent there is swallowed without a word, and since every packet
has to come from where an answer would go (`rp_filter` 1), what comes from there is dropped too.
So both directions go at once, open connections hang and new ones time out, as where a cable was
pulled; everybody else still reaches the node. Nothing but this namespace is touched, and it needs
no firewall: `ip` and `nsenter` are enough.

A cut undoes itself after a limit, by a dead man's switch beside it (`deadman`):

    /bin/sh -c … brownout-undo-partition brownout-1a2b3c4d-n1 4026532281 60
                                         namespace            its inode  limit
"""

import os
import shutil
from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address
from pathlib import Path

from brownout.base.errors import ConfigurationError, HostError
from brownout.machine import deadman
from brownout.machine.commands import Completed, LocalRunner, answer, script

__all__ = ["MARK", "NAMESPACES", "VOID", "arm", "cut", "cut_off", "disarm", "enter", "inode"]
__all__ += ["join", "reachable", "why_not"]

MARK = "brownout-undo-partition"
VOID = "void"
#: Where `ip` keeps the namespaces that have a name.
NAMESPACES = Path("/run/netns")

_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21

#: A namespace that was made anew under the name is not ours to touch.
_WAIT_AND_JOIN = f"""\
sleep "$3"
[ "$(stat -L -c %i "{NAMESPACES}/$1")" = "$2" ] && ip -n "$1" route flush dev {VOID}
"""
_FUNCTIONS = deadman.functions(MARK, _WAIT_AND_JOIN)

_ARM = f"""{_FUNCTIONS}
earlier=$(switches "$1" "$2")
arm "$1" "$2" "$3" || return 1
disarm "$earlier"
echo "switch $switch"
"""
_DISARM = f"""{_FUNCTIONS}
disarm "$(switches "$1" '[0-9]*')"
"""
_SHOW = f"""\
show() {{ ip -n "$1" -o -4 route show dev {VOID} | while read -r to rest; do
  echo "cut ${{to%/32}}"; done; }}
"""
#: All routes or none: `ip -batch` ends at the first that fails, and then those before it go.
_CUT = f"""{_SHOW}
namespace=$1; shift
nsenter --net="{NAMESPACES}/$namespace" sh -c 'echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter' \
  || return 1
for address in "$@"; do echo "route replace $address/32 dev {VOID}"; done \
  | ip -n "$namespace" -batch - \
  || {{ ip -n "$namespace" route flush dev {VOID}; return 1; }}
show "$namespace"
"""
_JOIN = f"""{_SHOW}
ip -n "$1" route flush dev {VOID} || return 1
show "$1"
"""


def why_not() -> str:
    """Return why this machine cannot cut a node off for us; empty if it can."""
    missing = [tool for tool in ("ip", "nsenter", "setsid") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on PATH (Debian: iproute2, util-linux)"
    if not _may(_CAP_NET_ADMIN, _CAP_SYS_ADMIN):
        return "network namespaces want root, or CAP_NET_ADMIN and CAP_SYS_ADMIN"
    return ""


def enter(namespace: str) -> tuple[str, ...]:
    """Return what goes before a command that is to run in `namespace`; nothing for none."""
    return ("nsenter", f"--net={NAMESPACES / namespace}", "--") if namespace else ()


def reachable(addresses: Sequence[str]) -> list[str]:
    """Return the IPv4 addresses of these `host:port`, each once.

    Raises `ConfigurationError` for a name: what it means to the node may differ.
    """
    found = []
    for address in addresses:
        host = address.rpartition(":")[0]
        try:
            found.append(str(IPv4Address(host)))
        except AddressValueError as error:
            raise ConfigurationError(
                f"address {address!r}: a partition cuts IPv4 addresses, found {host!r}",
                "give the members by their IPv4 address",
            ) from error
    return list(dict.fromkeys(found))


def inode(namespace: str) -> int:
    """Return what tells this namespace from a later one of the same name."""
    try:
        return (NAMESPACES / namespace).stat().st_ino
    except OSError as error:
        raise HostError(
            f"there is no network namespace `{namespace}`: {error.strerror}",
            "its lab is down or half gone: take it down and bring it up again",
        ) from error


def arm(namespace: str, after_s: float) -> int:
    """Start a switch that joins `namespace` again after `after_s` seconds; return its process.

    Call it before the cut. One that was armed before is replaced, never left without one between.
    """
    done = LocalRunner().run(script(_ARM, namespace, inode(namespace), f"{after_s:g}"))
    return int(_answered(done, "arming the dead man's switch").get("switch", ["0"])[-1])


def disarm(namespace: str) -> None:
    """End every switch of a namespace of this name, also of one that is gone."""
    _answered(LocalRunner().run(script(_DISARM, namespace)), "ending the dead man's switch")


def cut(namespace: str, addresses: Sequence[str]) -> Completed:
    """Cut `namespace` off from these IPv4 addresses, from all or from none.

    The kernel's routes are read back; raises `HostError` unless each of them leads nowhere.
    """
    done = LocalRunner().run(script(_CUT, namespace, *addresses))
    there = _answered(done, "cutting the node off").get("cut", [])
    if missing := sorted(set(addresses) - set(there)):
        raise HostError(f"namespace `{namespace}` is not cut off from {', '.join(missing)}")
    return done


def join(namespace: str) -> Completed:
    """Let `namespace` reach everybody again; proven by the kernel's routes."""
    done = LocalRunner().run(script(_JOIN, namespace))
    if left := _answered(done, "joining the node again").get("cut", []):
        raise HostError(f"namespace `{namespace}` is still cut off from {', '.join(left)}")
    return done


def cut_off(namespace: str) -> list[str]:
    """Return the addresses that `namespace` is cut off from now; none where it is gone."""
    if not (NAMESPACES / namespace).exists():
        return []
    done = LocalRunner().run(script(f'{_SHOW}\nshow "$1"', namespace))
    return _answered(done, "looking at the node's routes").get("cut", [])


def _answered(done: Completed, what: str) -> dict[str, list[str]]:
    lines = answer(done, what, LocalRunner.where).lines
    found: dict[str, list[str]] = {}
    for name, value in lines:
        found.setdefault(name, []).append(value)
    return found


def _may(*capabilities: int) -> bool:
    """Whether this process has all of these, by their numbers in capability.h."""
    try:
        text = Path(f"/proc/{os.getpid()}/status").read_text(encoding="ascii")
        held = int(text.partition("CapEff:")[2].split()[0], 16)
    except (OSError, ValueError, IndexError):
        return False
    return all(held >> number & 1 for number in capabilities)
