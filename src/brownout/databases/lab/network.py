"""A network of a lab's own: each node in a network namespace, joined by a bridge in one more.

    here ── bo1a2b3c4d ── [brownout-1a2b3c4d-hub: bridge] ── [brownout-1a2b3c4d-n1: eth0]
            198.18.7.1                                    ── [brownout-1a2b3c4d-n2: eth0]

All that this machine's own network gets is one interface with one address, so no firewall of it
stands between the members. The names come from the lab's directory: what a lab that crashed left
is found by them, and nothing else is ever touched.
"""

import hashlib
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from brownout.base.errors import HostError, UndoFailed, Unsupported
from brownout.machine import deadman, network

__all__ = ["HERE", "Place", "block_of", "gateway", "left", "make", "places", "remove", "tag_of"]

#: Reserved for benchmarks of networks (RFC 2544); a lab takes 256 addresses of it.
_RANGE = IPv4Network("198.18.0.0/15")
_PREFIX = 24
_INTERFACES = Path("/sys/class/net")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one node lives: its namespace and its address there."""

    namespace: str
    address: str


#: That of a node of a lab without a network of its own.
HERE = Place("", "127.0.0.1")


def places(directory: Path, names: Sequence[str], own_network: bool) -> dict[str, Place]:
    """Return where each node of a lab lives: in a network that is made for it, or `HERE`."""
    return make(directory, names) if own_network else dict.fromkeys(names, HERE)


def make(directory: Path, names: Sequence[str]) -> dict[str, Place]:
    """Make the network of the lab in `directory` with a place for each node, by its name.

    Raises `Unsupported` with the reason where this machine cannot, before anything is made.
    """
    if reason := network.why_not():
        raise Unsupported(f"a lab with network namespaces cannot be made here: {reason}")
    remove(directory)  # of a lab whose directory was deleted by hand
    tag, block = tag_of(directory), _free_block()
    hub, outside = f"brownout-{tag}-hub", f"bo{tag}"
    gateway, *addresses = [str(host) for host in block.hosts()][: len(names) + 1]
    _run([f"netns add {hub}"])
    _run(
        [
            f"link add {outside} type veth peer name uplink netns {hub}",
            f"address add {gateway}/{block.prefixlen} dev {outside}",
            f"link set {outside} up",
        ]
    )
    bridge = ["link add br0 type bridge", "link set br0 up", "link set uplink master br0 up"]
    _run(["link set lo up", *bridge], hub)
    places = {}
    for name, address in zip(names, addresses, strict=True):
        places[name] = Place(f"brownout-{tag}-{name}", address)
        _join(hub, places[name], name, block.prefixlen)
    return places


def gateway(place: Place) -> str:
    """Return our own end of the network that a node lives in; loopback for `HERE`."""
    return str(next(iter(block_of(place).hosts())))


def block_of(place: Place) -> IPv4Network:
    """Return the network that a node lives in; of loopback the node's own address alone."""
    return IPv4Network(f"{place.address}/{_PREFIX if place.namespace else 32}", strict=False)


def remove(directory: Path) -> None:
    """Take the network of the lab in `directory` away, however much of it there is.

    Its nodes' processes must be gone. Raises `UndoFailed` with what is still there.
    """
    outside = f"bo{tag_of(directory)}"
    if (_INTERFACES / outside).exists():
        _ip("link", "delete", outside)
    for namespace in _namespaces(directory):
        deadman.disarm_all(network.runner_in(namespace))
        _ip("netns", "delete", namespace)
    if still := left(directory):
        raise UndoFailed(f"the network of `{directory}` is not gone: {', '.join(still)}")


def left(directory: Path) -> list[str]:
    """Return what there is of the network of the lab in `directory`: namespaces, interfaces."""
    outside = f"bo{tag_of(directory)}"
    return [*_namespaces(directory), *([outside] if (_INTERFACES / outside).exists() else [])]


def _join(hub: str, place: Place, name: str, prefix: int) -> None:
    """Make a node's namespace and tie it to the hub."""
    _run([f"netns add {place.namespace}"])
    _run(
        [
            f"link add {name} type veth peer name eth0 netns {place.namespace}",
            f"link set {name} master br0 up",
        ],
        hub,
    )
    _run(
        [
            "link set lo up",
            f"address add {place.address}/{prefix} dev eth0",
            "link set eth0 up",
        ],
        place.namespace,
    )


def tag_of(directory: Path) -> str:
    """Return eight letters that are this lab's: two of one name may be in two directories."""
    return hashlib.sha256(str(directory.absolute()).encode()).hexdigest()[:8]


def _namespaces(directory: Path) -> list[str]:
    return sorted(path.name for path in network.NAMESPACES.glob(f"brownout-{tag_of(directory)}-*"))


def _free_block() -> IPv4Network:
    """Return 256 addresses of which none is used or routed by this machine."""
    taken = _known_networks()
    blocks = list(_RANGE.subnets(new_prefix=_PREFIX))
    random.shuffle(blocks)
    for block in blocks:
        if not any(block.overlaps(other) for other in taken):
            return block
    raise HostError(f"every network of {_RANGE} is used on this machine", "take a lab down")


def _known_networks() -> list[IPv4Network]:
    """Return the networks that this machine has routes to, but for the default one."""
    lines = _ip("-o", "-4", "route", "show", "table", "all").splitlines()
    networks = []
    for line in lines:
        words = [word for word in line.split() if "." in word and word[0].isdigit()]
        if words:
            networks.append(IPv4Network(words[0], strict=False))
    return networks


def _run(lines: Sequence[str], namespace: str = "") -> None:
    """Have `ip` do these, in `namespace` if one is named; it ends at the first that fails."""
    where = ("-n", namespace) if namespace else ()
    _ip(*where, "-batch", "-", text="\n".join(lines) + "\n")


def _ip(*words: str, text: str = "") -> str:
    try:
        done = subprocess.run(
            ["ip", *words], input=text, capture_output=True, text=True, timeout=30, check=False
        )
    except OSError as error:
        raise HostError(f"`ip {' '.join(words)}` cannot be run: {error.strerror}") from error
    if done.returncode:
        reason = done.stderr.strip() or f"status {done.returncode}"
        raise HostError(f"`ip {' '.join(words)}` failed: {reason}")
    return done.stdout
