"""How a server is started, by the systemd unit and the environment files that say so.

A unit names the command and the variables; files beside it (`NAME.service.d/*.conf`) change it, and
those that it names (`EnvironmentFile=`) win over its own variables.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.variables import variables_in, words
from brownout.machine.host import Host

__all__ = ["Start", "started_by"]

#: Where an administrator's own unit, or a change of one, wins over a package's.
_OWN = (Path("/run/systemd/system"), Path("/etc/systemd/system"))
#: What starts a server in a container: its paths are not the machine's.
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "rkt", "systemd-nspawn", "lxc-execute"})
_SHELLS = frozenset({"sh", "bash", "dash"})
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Start:
    """A server's command and the variables of its environment, as far as they are known."""

    command: tuple[str, ...]
    variables: Mapping[str, str]


def started_by(host: Host, file: Path, text: str) -> Start | None:
    """Return how the unit in `file`, whose text is `text`, starts its server.

    None where it is not a unit. Raises `HostError` where a file that it names cannot be read, and
    where it starts a container.
    """
    if not any(line.strip() == "[Service]" for line in text.splitlines()):
        return None
    command, variables, files = "", dict[str, str](), list[str]()
    for name, value in _settings(_texts(host, file, text)):
        if name == "ExecStart":
            command = value
        elif name == "Environment":
            pairs = (word.partition("=") for word in words(value))
            variables = variables | {key: of for key, _, of in pairs} if value else {}
        elif name == "EnvironmentFile":
            files = [*files, value] if value else []
    for named in files:
        try:
            variables |= variables_in(host.read_text(Path(named.removeprefix("-"))))
        except HostError:
            if not named.startswith("-"):
                raise
    command = command.lstrip("-@:+!")
    return Start(tuple(_program(file, command, variables)), variables)


def _program(file: Path, command: str, variables: Mapping[str, str]) -> list[str]:
    """Return the words of the server's command, also where a shell starts it."""
    parts = words(command)
    if len(parts) > 2 and Path(parts[0]).name in _SHELLS and parts[1].endswith("c"):
        parts = words(parts[2])
    if any(Path(part).name in _CONTAINERS for part in parts[:3]):
        raise HostError(f"`{file}` starts a container, whose directories are not the machine's")
    return [
        word
        for part in parts
        for word in (
            words(_filled(part, variables)) if part[:1] == "$" else [_filled(part, variables)]
        )
    ]


def _texts(host: Host, file: Path, text: str) -> Iterator[str]:
    """Yield the text that counts of a unit, then those of the files that change it."""
    places = (file.parent, *_OWN) if file.parent.name == "system" else (file.parent,)
    for at in places:  # the last one counts
        try:
            text = text if at == file.parent else host.read_text(at / file.name)
        except HostError:
            continue
    yield text
    changes: dict[str, Path] = {}
    for at in places:
        directory = at / f"{file.name}.d"
        try:
            changes |= {name: directory / name for name in host.entries(directory)}
        except HostError:
            continue
    for name in sorted(changes):
        if name.endswith(".conf"):
            yield host.read_text(changes[name])


def _settings(texts: Iterator[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        for line in re.sub(r"\\\r?\n", " ", text).splitlines():
            name, is_one, value = line.strip().partition("=")
            if is_one and name[:1] not in ("#", ";"):
                yield name.strip(), value.strip()


def _filled(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with each variable that is known in its place."""
    return _VARIABLE.sub(lambda it: variables.get(it[1] or it[2], it[0]), text)
