"""The hosts of one group of an Ansible inventory, with the variables that say how to log in.

Static inventories in INI and YAML, and what `ansible-inventory --list` prints. No template is
filled in and no vault opened; passwords are left out and named.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory.importers.ansible_groups import Groups, parse
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["read"]

#: Each of our settings, with Ansible's names for it, the newest first.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "address": ("ansible_host", "ansible_ssh_host"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "identity_file": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
    "become": ("ansible_become", "ansible_sudo"),
    "connection": ("ansible_connection",),
    "rack": ("rack_id", "rack"),
}
_SSH = ("", "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")
_SECRET = re.compile(r"(?i)^ansible_.*(pass|password|secret|token)$")
_PROXY = ("ansible_ssh_common_args", "ansible_ssh_extra_args")


def read(text: str, source: str, group: str) -> Imported:
    """Return the hosts of `group`, and of the groups in it.

    Raises `ConfigurationError` with all problems.
    """
    groups = parse(text, source)
    if group not in groups.names():
        known = ", ".join(name for name in groups.names() if name not in ("all", "ungrouped"))
        raise ConfigurationError(
            f"{source}: has no group `{group}`; it has {known or 'none'}", "say which by --group"
        )
    problems: list[str] = []
    machines = [_machine(groups, host, source, problems) for host in groups.hosts(group)]
    if not machines:
        problems.append(f"{source}: group `{group}` has no hosts")
    if problems:
        raise ConfigurationError(problems)
    return Imported(group, f"Ansible's {source}, group {group}", tuple(machines))


def _machine(groups: Groups, host: str, source: str, problems: list[str]) -> Machine:
    variables = groups.variables(host)
    found = {ours: _first(variables, theirs) for ours, theirs in _NAMES.items()}
    where = f"{source}: host {host}"
    for ours, value in found.items():
        if "{{" in value:
            problems.append(
                f"{where}: {_NAMES[ours][0]}: found a template or a vault's text, which only "
                "Ansible can read; write its value there"
            )
    if found["connection"] not in _SSH:
        told = f"ansible_connection: found {found['connection']!r}, wanted ssh"
        problems.append(f"{where}: {told}; such a host cannot be reached by brownout")
    port = found["port"] or "22"
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        problems.append(f"{where}: ansible_port: found {port!r}, wanted a port")
        port = "22"
    return Machine(
        name=host,
        address=found["address"] or host,
        port=int(port),
        user=found["user"],
        identity_file=found["identity_file"],
        sudo=found["become"].lower() in ("true", "yes", "1", "on"),
        rack=found["rack"],
        notes=tuple(_notes(variables)),
    )


def _first(variables: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = variables.get(name)
        if isinstance(value, Mapping) or str(value).startswith("$ANSIBLE_VAULT"):
            return "{{ vault }}"
        if isinstance(value, str | int | bool):
            return str(value)
    return ""


def _notes(variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was not taken over: what logs in besides a key, and detours."""
    for name in sorted(variables):
        if _SECRET.match(name):
            yield f"`{name}` was not copied: no secret stands in an inventory; give a reference"
    for name in _PROXY:
        if "Proxy" in str(variables.get(name, "")):
            yield f"`{name}` leads through another machine: say so by `bastion` (docs/ssh.md)"
