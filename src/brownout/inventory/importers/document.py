"""An inventory's text, made of another tool's machines, with comments on what is left to do. Pure.

What it says has been read back as `brownout check` reads it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.inventory.database import Server, databases
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["server_of", "written"]

_GUESSED = "more nodes are on its machine; `service` and `config_file` are guesses"
_PLAIN = re.compile(r"[A-Za-z0-9~/][A-Za-z0-9._:/~-]*")


_HEAD = """\
# Made from {source} by `brownout inventory`.
# Look it through: what stands after a # is not known from there. docs/clusters.md, docs/ssh.md
# and docs/kubernetes.md explain every setting; `brownout check` and `brownout doctor` say what is
# still wrong.
{notes}name: {name}
database: {database}
# lab, test, staging or production: guards ask for more, the nearer it is to people.
environment: staging
# A wipe removes a node's data. It is refused unless this is true.
allow_data_loss: false
{settings}nodes:
"""
_LOGIN = "# auth: {username: brownout, password: {env: NAME}}"
_TAIL = """\
connection:
  # What the load needs; an empty one connects to the nodes' addresses without a login.
  {wanted}
  timeout_s: 2
"""


def written(imported: Imported, database: str, port: int = 0, path: Path | None = None) -> str:
    """Return an inventory of `imported`; `port` is the database's where it is not the usual one.

    `path` is where it will stand. Raises `ConfigurationError` with every problem.
    """
    kind = server_of(database)
    at = Counter(_machine(one) for one in imported.machines)
    together = [_of_ssh(one) and at[_machine(one)] > 1 for one in imported.machines]
    imported = _with_notes_of_all(imported, together)
    notes = "".join(f"# {_printable(note)}\n" for note in imported.notes)
    head = _HEAD.format(
        source=_printable(imported.source),
        notes=notes,
        name=_quoted(imported.name),
        database=database,
        settings="".join(f"{key}: {_flow(value)}\n" for key, value in imported.settings.items()),
    )
    pairs = zip(imported.machines, together, strict=True)
    nodes = [_node(one, kind, port or kind.port, several) for one, several in pairs]
    lines = [line for node in nodes for line in node]
    settings = [f"{key}: {_flow(value)}" for key, value in imported.connection.items()]
    contained = all(one.host.get("kind") == "docker" for one in imported.machines)
    hints = [hint for hint in kind.hints if not (contained and "`host." in hint)]
    wanted = [*(settings or hints), *([] if "auth" in imported.connection else [_LOGIN])]
    text = head + "\n".join(lines) + "\n" + _TAIL.format(wanted="\n  ".join(wanted))
    inventory.parse(yaml.safe_load(text), path or Path(f"{imported.name}.yaml"))
    return text


def _with_notes_of_all(imported: Imported, together: Sequence[bool]) -> Imported:
    """Return it with what is said of every node said once; `together` share their machine."""
    machines = [
        replace(one, notes=(*one.notes, _GUESSED)) if several else one
        for one, several in zip(imported.machines, together, strict=True)
    ]
    first, *rest = machines
    alike = [note for note in first.notes if rest and all(note in one.notes for one in rest)]
    own = [[note for note in one.notes if note not in alike] for one in machines]
    notes = (*imported.notes, *(f"Every node: {note}" for note in alike))
    pairs = zip(machines, own, strict=True)
    return replace(
        imported,
        machines=tuple(replace(one, notes=tuple(left)) for one, left in pairs),
        notes=notes,
    )


def server_of(database: str) -> Server:
    """Return how a database is installed; `ConfigurationError` with the known ones."""
    servers = {name: one.server for name, one in databases().items() if one.server is not None}
    if database not in servers:
        listed = ", ".join(servers)
        raise ConfigurationError(f"--database: found {database!r}, wanted one of {listed}")
    return servers[database]


def _machine(machine: Machine) -> tuple[str, int]:
    return machine.ssh_address or machine.address, machine.port


def _of_ssh(machine: Machine) -> bool:
    return machine.by_ssh and not machine.host


def _node(machine: Machine, kind: Server, usual: int, together: bool) -> Iterator[str]:
    """Yield a node's lines; nodes that share their machine have names of their own there."""
    port = machine.database_port or usual
    yield from (f"  # {_quoted(machine.name)}: {_printable(note)}" for note in machine.notes)
    yield f"  - name: {_quoted(machine.name)}"
    yield f"    address: {_quoted(_with_port(machine.address, port))}"
    if machine.rack:
        yield f"    rack: {_quoted(machine.rack)}"
    if machine.api:
        yield f"    api: {_quoted(machine.api)}"
    if machine.shard:
        yield f"    shard: {_quoted(machine.shard)}"
    if machine.host:
        yield "    host:"
        yield from (f"      {key}: {_flow(value)}" for key, value in machine.host.items())
        return
    if not machine.by_ssh:
        yield "    # host:                    # how it is stopped and started"
        return
    yield "    host:"
    yield "      kind: ssh"
    if machine.ssh_address not in ("", machine.address):
        yield f"      address: {_quoted(machine.ssh_address)}"
    if machine.port != 22:
        yield f"      port: {machine.port}"
    yield f"      user: {_quoted(machine.user)}" if machine.user else "      # user: …"
    if machine.bastion:
        yield f"      bastion: {_flow(dict(machine.bastion))}"
    yield f"      {_identity(machine.identity_file)}"
    yield f"      sudo: {'true' if machine.sudo else 'false'}" + (
        "" if machine.user == "root" else "            # true unless the login may do it all"
    )
    file = Path(kind.config_file)
    if together:  # as a template of units has them
        yield f"      service: {kind.service}@{port}"
        yield f"      config_file: {file.with_name(f'{file.stem}-{port}{file.suffix}')}"
        return
    yield f"      service: {kind.service}"
    yield f"      config_file: {file}"


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
