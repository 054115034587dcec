"""What the variables of one host of Ansible say: how to log in, and where its nodes listen. Pure.

A template is filled in where it names other variables of the same host; the rest only a playbook
knows. Passwords are left out and named.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brownout.inventory.database import Server
from brownout.inventory.importers.machine import Machine

__all__ = ["HostVariables", "Wanted", "is_port", "machines"]

#: Each of our settings, with Ansible's names for it, the newest first.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "address": ("ansible_host", "ansible_ssh_host"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "identity_file": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
    "become": ("ansible_become", "ansible_sudo"),
    "connection": ("ansible_connection",),
}
_SSH = ("", "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")
_SECRET = re.compile(r"(?i)^ansible_.*(pass|password|secret|token)$")
_PROXY = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
#: What playbooks call the address that others use, and the one that a server listens at.
_LISTENS = (
    *("access_ip", "ip", "private_ip", "private_ip_address", "private_ipv4", "private_address"),
    *("internal_ip", "internal_address", "cluster_ip", "listen_address"),
)
_RACKS = ("rack_id", "rack", "zone", "availability_zone", "failure_domain")
#: In the names of ports at which clients are not served.
_OTHER_PORTS = frozenset(
    (
        *("admin", "bus", "cluster", "exporter", "fabric", "gossip", "heartbeat", "http", "info"),
        *("jmx", "metrics", "peer", "sentinel", "ssh", "ssl", "storage", "tls"),
    )
)
#: `-J ops@jump:2222`, or `-o ProxyJump=…`: one machine that leads to the others.
_JUMP = re.compile(
    r"(?:-J\s*|ProxyJump[=\s]+)(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9_][A-Za-z0-9._-]*)(?::([0-9]{1,5}))?"
    r"(?=[\s\"']|$)"
)
_TEMPLATE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]*")
#: Templates may be in templates, and lead round in a circle.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which groups are wanted, of which database, and which variables say where nodes listen.

    `port` is the database's where it is not the usual one.
    """

    groups: tuple[str, ...]
    database: str
    server: Server
    address_from: str = ""
    port_from: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class HostVariables:
    """A host by its name in the inventory, with all variables that it has there."""

    name: str
    values: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """Return the first of these variables that has a value, templates filled in."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, Mapping):
                value = value.get("__ansible_unsafe", "{{ vault }}")
            if str(value).startswith("$ANSIBLE_VAULT"):
                return "{{ vault }}"
            if isinstance(value, str | int | float):
                return self._filled(str(value))
        return ""

    def _filled(self, text: str, depth: int = 0) -> str:
        def value(match: re.Match[str]) -> str:
            inner = self.values.get(
                match[1], self.name if match[1] == "inventory_hostname" else None
            )
            if isinstance(inner, bool) or not isinstance(inner, str | int) or depth > _DEEPEST:
                return match[0]
            if str(inner).startswith("$ANSIBLE_VAULT"):
                return match[0]
            return self._filled(str(inner), depth + 1)

        return _TEMPLATE.sub(value, text)


def machines(host: HostVariables, wanted: Wanted, where: str, problems: list[str]) -> list[Machine]:
    """Return the machine of each node on a host; what is wrong joins `problems`."""
    values = {ours: host.text(*theirs) for ours, theirs in _NAMES.items()}
    values["rack"] = host.text(*_RACKS, f"{wanted.database}_rack")
    for ours, value in values.items():
        if "{{" in value:
            name = _NAMES.get(ours, (ours,))[0]
            problems.append(
                f"{where}: {name}: found a template or a vault's text, which only Ansible can "
                "read; write its value there"
            )
    if values["connection"] not in _SSH:
        problem = f"ansible_connection: found {values['connection']!r}, wanted ssh"
        problems.append(f"{where}: {problem}; such a host cannot be reached by brownout")
    port = values["port"] or "22"
    if not is_port(port):
        problems.append(f"{where}: ansible_port: found {port!r}, wanted a port")
        port = "22"
    login = values["address"] or host.name
    address, notes = _address(host, login, wanted, where, problems)
    ports, notes_of_ports = _ports(host, wanted, where, problems)
    machine = Machine(
        name=host.name,
        address=address,
        ssh_address=login,
        port=int(port),
        user=values["user"],
        identity_file=values["identity_file"],
        sudo=values["become"].lower() in ("true", "yes", "1", "on"),
        rack=values["rack"],
        bastion=_bastion(host),
        notes=(*notes, *notes_of_ports, *_notes(host.values)),
    )
    if len(ports) < 2:
        return [replace(machine, database_port=next(iter(ports), 0))]
    return [replace(machine, name=f"{host.name}-{one}", database_port=one) for one in ports]


def is_port(value: object) -> bool:
    """Whether a value is a port's number, as text or as such."""
    return re.fullmatch(r"[0-9]{1,5}", str(value)) is not None and 0 < int(str(value)) < 65536


def _address(
    host: HostVariables, login: str, wanted: Wanted, where: str, problems: list[str]
) -> tuple[str, list[str]]:
    """Return where the database of a host listens, with a note where that is a guess."""
    if wanted.address_from:
        text = host.name if wanted.address_from == "inventory_hostname" else ""
        text = text or host.text(wanted.address_from)
        if address := _usable(text):
            return address, []
        problems.append(
            f"{where}: {wanted.address_from} (--address-from): found {text!r}, wanted an address "
            "that others can reach"
        )
        return login, []
    guesses = (*_LISTENS, f"{wanted.database}_address", f"{wanted.database}_listen_address")
    named = ((name, host.text(name)) for name in guesses)
    name, address = next(
        ((name, usable) for name, text in named if _is_ip(usable := _usable(text))),
        ("inventory_hostname", host.name if _is_ip(host.name) else login),
    )
    if address == login:
        unread = [name for name in guesses if "{{" in host.text(name)]
        note = (
            f"`{unread[0]}` is a template: its address is where the login leads" if unread else ""
        )
        return login, [note] if note else []
    return address, [
        f"its address is `{name}`, a guess; --address-from names another variable (`ansible_host`: "
        "where the login leads)"
    ]


def _usable(text: str) -> str:
    """Return the first address in a text that another machine can reach; empty without one."""
    for word in [] if "{{" in text else re.split(r"[\s,]+", text.strip()):
        bare = word.partition("/")[0].strip("[]")
        if not _is_ip(bare):
            if bare and _HOST_NAME.fullmatch(bare) and bare not in ("localhost", "true", "false"):
                return bare
            continue
        address = ipaddress.ip_address(bare)
        if not (address.is_unspecified or address.is_loopback or address.is_multicast):
            return bare
    return ""


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _ports(
    host: HostVariables, wanted: Wanted, where: str, problems: list[str]
) -> tuple[list[int], list[str]]:
    """Return the ports of the nodes on a host, none where it is the usual one."""
    if wanted.port_from:
        ports = _listed(host, wanted.port_from)
        if not ports:
            problems.append(
                f"{where}: {wanted.port_from} (--port-from): wanted a port, a list of ports, or of "
                "mappings with a `port`"
            )
        return ports, []
    if wanted.port:
        return [], []
    words = dict.fromkeys((wanted.database, wanted.server.program, wanted.server.service))
    guesses = [f"{word.replace('-', '_')}_{end}" for word in words for end in ("port", "ports")]
    guesses += [f"{word.replace('-', '_')}_instances" for word in words]
    for name in [*guesses, *_alone(host, words)]:
        if ports := _listed(host, name):
            note = f"its port is `{name}`, a guess; --port-from names another variable"
            return ports, [note] if ports != [wanted.server.port] else []
    return [], []


def _alone(host: HostVariables, words: Iterable[str]) -> list[str]:
    """Return the only variable of a database, as `stone_net_port`, that is a port for clients."""
    beginnings = tuple(f"{word.replace('-', '_')}_" for word in words)
    names = [
        name
        for name in host.values
        if name.startswith(beginnings)
        and name.endswith("_port")
        and not set(name.split("_")) & _OTHER_PORTS
    ]
    return names if len(names) == 1 else []


def _listed(host: HostVariables, name: str) -> list[int]:
    """Return the ports in a variable: one, a list, mappings with a `port`, or a mapping by port.

    `name` may have a part after a dot, the key of each mapping.
    """
    root, _, key = name.partition(".")
    value = host.values.get(root)
    if isinstance(value, Mapping) and all(map(is_port, value)):
        value = list(value)  # as `{6379: {…}, 6380: {…}}`
    if isinstance(value, list):
        each = [one.get(key or "port") if isinstance(one, Mapping) else one for one in value]
    else:
        each = [value.get(key) if isinstance(value, Mapping) else host.text(root)]
    return [int(str(one)) for one in each] if all(map(is_port, each)) else []


def _bastion(host: HostVariables) -> dict[str, str | int]:
    """Return the settings of the one machine that a login leads through; none without it."""
    match = next(filter(None, (_JUMP.search(host.text(name)) for name in _PROXY)), None)
    if match is None:
        return {}
    user, address, port = match.groups()
    settings: dict[str, str | int] = {"address": address, **({"user": user} if user else {})}
    return {**settings, **({"port": int(port)} if port and is_port(port) else {})}


def _notes(variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was not taken over: what logs in besides a key, and detours."""
    for name in sorted(variables):
        if _SECRET.match(name):
            yield f"`{name}` was not copied: no secret stands in an inventory; give a reference"
    for name in _PROXY:
        text = str(variables.get(name, ""))
        if ("Proxy" in text or "-J" in text) and not _JUMP.search(text):
            yield f"`{name}` leads through another machine: say so by `bastion` (docs/ssh.md)"
