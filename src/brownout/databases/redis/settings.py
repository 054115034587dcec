"""A node's own configuration: the file that it reads, and the flags of the command that starts it.

    redis-server /etc/redis/redis.conf --port 7000 --save ""

Flags win over the file. A file that it includes counts as if it were written in its place. Where
the inventory names a systemd unit, the unit names the command.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from brownout.base.errors import HostError
from brownout.databases.places import Unnamed
from brownout.databases.units import started_by
from brownout.inventory.model import Node
from brownout.machine.host import Host

__all__ = ["in_command", "in_file", "own_settings"]

#: Redis itself stops at so many files within one another.
_DEEPEST = 16
_PATTERN = frozenset("*?[")
#: A value: in double quotes with escapes, in single quotes with `\'`, or a word.
_WORD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"(?!\S)|'((?:[^'\\]|\\.)*)'(?!\S)|(\S+))""")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "a": "\a"}


def own_settings(node: Node, host: Host) -> Mapping[str, str]:
    """Return what the node's command and configuration file set: `{"dir": "/var/lib/redis"}`.

    Raises `Unnamed` if the file, or one that it includes, cannot be read.
    """
    command = node.host.command if node.host else ()
    file = node.host.config_file if node.host else None
    try:
        named = _file_in(command) or file
        text = host.read_text(named) if named is not None else ""
        start = started_by(host, named, text) if named is not None else None
        if start is not None:
            command, named = start.command, _file_in(start.command)
            text = host.read_text(named) if named is not None else ""
        lines = [*map(_setting, text.splitlines()), *in_command(command).items()]
        return dict(_with_included(host, named or "its command", lines))
    except HostError as error:
        raise Unnamed(
            f"node `{node.name}`: its configuration is not known: {error.message}"
        ) from error


def _file_in(command: Sequence[str]) -> Path | None:
    """Return the file that a command names, after the server's program."""
    programs = (at for at, word in enumerate(command) if word.endswith("-server"))
    first = next(programs, 0) + 1
    named = next(iter(command[first : first + 1]), "")
    return Path(named) if named.startswith("/") else None


def _with_included(
    host: Host, source: Path | str, lines: Iterable[tuple[str, str]], depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the settings of a file, with those of each file that it includes in their place."""
    for name, value in lines:
        if name != "include":
            if name:
                yield name, value
            continue
        for file in _included(host, source, value, depth):
            settings = map(_setting, host.read_text(file).splitlines())
            yield from _with_included(host, file, settings, depth + 1)


def _included(host: Host, source: Path | str, value: str, depth: int) -> list[Path]:
    """Return the files that one `include` means: a pattern means those of a directory, in order."""
    path = Path(value)
    if not path.is_absolute() or set(str(path.parent)) & _PATTERN or depth >= _DEEPEST:
        raise HostError(f"`{source}` includes `{value}`, wanted the absolute path of files")
    if not set(path.name) & _PATTERN:
        return [path]
    visible = (name for name in host.entries(path.parent) if name[0] != "." or path.name[0] == ".")
    return [path.parent / name for name in sorted(visible) if fnmatchcase(name, path.name)]


def in_command(command: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line, as `--dir D`."""
    options, name = dict[str, list[str]](), ""
    for word in command:
        if word.startswith("--"):
            name = word.removeprefix("--").lower()
            options[name] = []
        elif name:
            options[name].append(word)
    return {name: " ".join(values) for name, values in options.items()}


def in_file(text: str) -> dict[str, str]:
    """Return the settings of a redis.conf: a name and a value a line; the last one counts."""
    settings = map(_setting, text.splitlines())
    return {name: value for name, value in settings if name}


def _setting(line: str) -> tuple[str, str]:
    """Return the name and the value of a line, without quotes; nothing of a comment."""
    name, *rest = line.split(None, 1) or [""]
    if not name or name.startswith("#"):
        return "", ""
    return name.lower(), " ".join(map(_word, _WORD.finditer(rest[0].strip() if rest else "")))


def _word(match: re.Match[str]) -> str:
    """Return a value without its quotes, as Redis reads escapes; one without an end keeps them."""
    quoted, single, plain = match.groups()
    if quoted is not None:
        return _ESCAPE.sub(
            lambda it: chr(int(it[1], 16)) if it[1] else _LETTERS.get(it[2], it[2]), quoted
        )
    return str(plain) if single is None else single.replace("\\'", "'")
