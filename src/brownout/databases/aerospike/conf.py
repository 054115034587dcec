"""What a node's own aerospike.conf says. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Setting", "heartbeat_endpoint", "namespace_setting", "settings"]

#: A brace is a word of its own, also where no space is beside it.
_WORD = re.compile(r"[{}]|[^\s{}]+")


@dataclass(frozen=True, slots=True)
class Setting:
    """One line: `Setting("port", ("3002",), ("network", "heartbeat"))`.

    `contexts` are the heads of those that it stands in, the outermost first.
    """

    name: str
    values: tuple[str, ...]
    contexts: tuple[str, ...]

    @property
    def context(self) -> str:
        """The first word of the innermost context: `storage-engine` of `storage-engine device`."""
        return self.contexts[-1].partition(" ")[0] if self.contexts else ""


def settings(text: str) -> Iterator[Setting]:
    """Return every setting of a file, in its order. A brace may stand on a line of its own."""
    contexts: list[str] = []
    words: list[str] = []  # of the line before, or of this one so far
    for line in text.splitlines():
        of_line_before = True
        for word in _WORD.findall(line.partition("#")[0]):
            if word == "{":
                contexts.append(" ".join(words))
                words = []
                continue
            if words and (word == "}" or of_line_before):
                yield Setting(words[0], tuple(words[1:]), tuple(contexts))
                words = []
            of_line_before = False
            if word == "}":
                contexts = contexts[:-1]
            else:
                words.append(word)
    if words:
        yield Setting(words[0], tuple(words[1:]), tuple(contexts))


def namespace_setting(text: str, namespace: str, name: str) -> str | None:
    """Return a setting of a namespace; None where the file does not give it."""
    values = _all(text, name, f"namespace {namespace}")
    return values[-1] if values else None


def heartbeat_endpoint(text: str, own_host: str) -> tuple[str, int] | None:
    """Return the host and port of a node's heartbeats; None where there is no such port.

    A node that listens on `any` address is reached at `own_host`.
    """
    ports = _all(text, "port", "network", "heartbeat")
    if not ports or not ports[-1].isdigit():
        return None
    addresses = [host for host in _all(text, "address", "network", "heartbeat") if host != "any"]
    return (addresses[0] if addresses else own_host), int(ports[-1])


def _all(text: str, name: str, *contexts: str) -> list[str]:
    return [
        one.values[0]
        for one in settings(text)
        if one.name == name and one.contexts == contexts and one.values
    ]
