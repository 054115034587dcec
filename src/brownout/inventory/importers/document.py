"""An inventory's text, made of another tool's machines, with comments on what is left to do. Pure.

What it says has been read back as `brownout check` reads it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.database import Server, databases
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["written"]

_PLAIN = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9._:/~-]*")


_HEAD = """\
# Made from {source} by `brownout inventory`.
# Look it through: what stands after a # is not known from there. docs/clusters.md, docs/ssh.md
# and docs/kubernetes.md explain every setting; `brownout check` and `brownout doctor` say what is
# still wrong.
name: {name}
database: {database}
# lab, test, staging or production: guards ask for more, the nearer it is to people.
environment: staging
# A wipe removes a node's data. It is refused unless this is true.
allow_data_loss: false
nodes:
"""
_TAIL = """\
connection:
  # What the load needs; an empty one connects to the nodes' addresses without a login.
  {wanted}
  # auth: {{username: brownout, password: {{env: NAME}}}}
  timeout_s: 2
"""


def written(imported: Imported, database: str, port: int = 0, path: Path | None = None) -> str:
    """Return an inventory of `imported`; `port` is the database's where it is not the usual one.

    `path` is where it will stand. Raises `ConfigurationError` with every problem.
    """
    servers = {name: one.server for name, one in databases().items() if one.server is not None}
    if database not in servers:
        listed = ", ".join(servers)
        raise ConfigurationError(f"--database: found {database!r}, wanted one of {listed}")
    kind = servers[database]
    source, name = _printable(imported.source), _quoted(imported.name)
    head = _HEAD.format(source=source, name=name, database=database)
    lines = [line for one in imported.machines for line in _node(one, kind, port or kind.port)]
    settings = [f"{key}: {_flow(value)}" for key, value in imported.connection.items()]
    text = head + "\n".join(lines) + "\n" + _TAIL.format(wanted="\n  ".join(settings or kind.hints))
    inventory.parse(yaml.safe_load(text), path or Path(f"{imported.name}.yaml"))
    return text


def _node(machine: Machine, kind: Server, port: int) -> Iterator[str]:
    yield from (f"  # {_quoted(machine.name)}: {_printable(note)}" for note in machine.notes)
    yield f"  - name: {_quoted(machine.name)}"
    own_port = machine.database_port or port
    yield f"    address: {_quoted(_with_port(machine.address, own_port))}"
    if machine.rack:
        yield f"    rack: {_quoted(machine.rack)}"
    if machine.host:
        yield "    host:"
        yield from (f"      {key}: {_flow(value)}" for key, value in machine.host.items())
        return
    if not machine.by_ssh:
        yield "    # host:                    # how it is stopped and started"
        return
    yield "    host:"
    yield "      kind: ssh"
    if machine.port != 22:
        yield f"      port: {machine.port}"
    yield f"      user: {_quoted(machine.user)}" if machine.user else "      # user: …"
    yield f"      {_identity(machine.identity_file)}"
    yield f"      sudo: {'true' if machine.sudo else 'false'}" + (
        "" if machine.user == "root" else "            # true unless the login may do it all"
    )
    yield f"      service: {kind.service}"
    yield f"      config_file: {kind.config_file}"


def _identity(file: str) -> str:
    """Return the setting, as a comment where there is no such file here."""
    if not file:
        return "# identity_file: …       # by default the keys of ~/.ssh and the agent"
    try:
        path = Path(file).expanduser()
    except RuntimeError:  # of a user who is not here
        path = Path(file)
    if not path.is_file():
        return f"# identity_file: {_quoted(file)}   # there is no such file here"
    return f"identity_file: {_quoted(file if file.startswith('~') else str(path.resolve()))}"


def _with_port(address: str, port: int) -> str:
    bare = address.strip("[]")
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def _quoted(text: str) -> str:
    """Return a YAML scalar that is this text and nothing else, in one line."""
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', width=1_000_000).strip()


def _flow(value: Any) -> str:
    """Return a value in one line of YAML."""
    if isinstance(value, str):
        return _quoted(value)
    return yaml.safe_dump(value, default_flow_style=True, width=1_000_000).strip()


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
