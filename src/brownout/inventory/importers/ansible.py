"""The hosts of one group of an Ansible inventory, with the variables that say how to log in.

`ansible-inventory --list` reads the inventory, so it may be whatever Ansible takes: INI, YAML, a
directory, a program, a plugin's settings, each with its `group_vars` and `host_vars`. No template
is filled in; passwords are left out and named.

{"_meta": {"hostvars": {"a1": {"ansible_user": "ops"}}}, "stone": {"hosts": ["a1"]}, …}
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from brownout.base.errors import ConfigurationError
from brownout.base.secret import environment_without_secrets
from brownout.base.settings_file import read_text
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["listing", "read"]

_PROGRAM: Final = "ansible-inventory"
#: A plugin may ask a cloud for its machines.
_TIMEOUT_S: Final = 120.0

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


def listing(file: Path) -> str:
    """Return what `ansible-inventory --list` says of an inventory, or `file` if that is such JSON.

    It never prompts for a vault's password, and its complaints are not repeated: they may
    contain a secret. Raises `ConfigurationError`.
    """
    if file.is_file():
        text = read_text(file, "file")
        if text.lstrip().startswith("{"):
            return text
    elif not file.is_dir():
        raise ConfigurationError(f"file `{file}`: No such file or directory")
    # Here, or in the environment that brownout itself is installed in.
    places = (os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent))
    program = shutil.which(_PROGRAM, path=os.pathsep.join(places))
    if program is None:
        raise ConfigurationError(
            f"{file}: `{_PROGRAM}`, which reads inventories of Ansible, is not installed",
            "pip install ansible-core, or give the output of `ansible-inventory --list` from "
            "another machine",
        )
    command = f"`{_PROGRAM} -i {file} --list`"
    try:
        done = subprocess.run(
            [program, "-i", str(file.absolute()), "--list"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            start_new_session=True,  # without a terminal, where it would ask for passwords
            env=environment_without_secrets() | {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigurationError(
            f"{file}: {command} has not ended within {_TIMEOUT_S:g} s", "run it to see why"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"`{program}` cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise ConfigurationError(
            f"{file}: Ansible cannot read it: {_PROGRAM} ended with {done.returncode}",
            f"{command} says why",
        )
    return done.stdout.decode(errors="replace")


def read(text: str, source: str, group: str) -> Imported:
    """Return the hosts of `group`, and of the groups in it, from what was listed.

    Raises `ConfigurationError` with all problems.
    """
    listed = _parsed(text, source)
    named = [name for name in listed if name != "_meta"]
    groups = {*named, *(child for name in named for child in _names(listed[name], "children"))}
    if group not in groups:
        names_of_groups = ", ".join(sorted(groups - {"all", "ungrouped"}))
        raise ConfigurationError(
            f"{source}: has no group `{group}`; it has {names_of_groups or 'none'}",
            "say which by --group",
        )
    problems = [
        f"{source}: group `{name}`: found `vars`, wanted them with each host; list without --export"
        for name in sorted(groups)
        if _mapping(listed.get(name)).get("vars")
    ]
    variables = _mapping(_mapping(listed.get("_meta")).get("hostvars"))
    machines = [
        _machine(_mapping(variables.get(host)), host, source, problems)
        for host in _hosts(listed, group)
    ]
    if not machines:
        problems.append(f"{source}: group `{group}` has no hosts")
    if problems:
        raise ConfigurationError(problems)
    return Imported(group, f"Ansible's {source}, group {group}", tuple(machines))


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{source}: not valid JSON: {error}",
            "wanted what `ansible-inventory --list` prints; give an inventory itself as a file",
        ) from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{source}: found a {type(data).__name__}, wanted a JSON object")
    return data


def _hosts(listed: Mapping[str, Any], group: str) -> list[str]:
    """Return the hosts of a group and of all in it, in the order in which they stand there."""
    hosts: dict[str, None] = {}
    inner, waiting = {group}, [group]
    while waiting:
        content = listed.get(waiting.pop(0))
        hosts.update(dict.fromkeys(_names(content, "hosts")))
        new = [child for child in _names(content, "children") if child not in inner]
        inner.update(new)
        waiting += new
    return list(hosts)


def _names(content: Any, kind: str) -> list[str]:
    """Return the `hosts` or `children` of a group; a program may list its hosts alone."""
    listed = content if isinstance(content, list) and kind == "hosts" else None
    listed = _mapping(content).get(kind) if listed is None else listed
    return [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _machine(variables: Mapping[str, Any], host: str, source: str, problems: list[str]) -> Machine:
    values = {ours: _first(variables, theirs) for ours, theirs in _NAMES.items()}
    where = f"{source}: host {host}"
    for ours, value in values.items():
        if "{{" in value:
            problems.append(
                f"{where}: {_NAMES[ours][0]}: found a template or a vault's text, which only "
                "Ansible can read; write its value there"
            )
    if values["connection"] not in _SSH:
        problem = f"ansible_connection: found {values['connection']!r}, wanted ssh"
        problems.append(f"{where}: {problem}; such a host cannot be reached by brownout")
    port = values["port"] or "22"
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        problems.append(f"{where}: ansible_port: found {port!r}, wanted a port")
        port = "22"
    return Machine(
        name=host,
        address=values["address"] or host,
        port=int(port),
        user=values["user"],
        identity_file=values["identity_file"],
        sudo=values["become"].lower() in ("true", "yes", "1", "on"),
        rack=values["rack"],
        notes=tuple(_notes(variables)),
    )


def _first(variables: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = variables.get(name)
        if str(value).startswith("$ANSIBLE_VAULT"):
            return "{{ vault }}"
        if isinstance(value, Mapping):
            value = value.get("__ansible_unsafe", "{{ vault }}")
        if isinstance(value, str | int | float):
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
