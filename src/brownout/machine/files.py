"""Looking at a node's files, wherever a `Runner` sees them."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from brownout.base.errors import HostError
from brownout.machine.commands import Runner, last_words, script

__all__ = ["SCRIPTS", "entries", "read_text", "resolved"]

_READ = 'cat -- "$1"'
#: Names are separated by a zero byte.
_ENTRIES = """find "$1/" -mindepth 1 -maxdepth 1 -printf '%f\\0'"""
_RESOLVED = 'for path; do readlink -mz -- "$path" || return 1; done'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"read": _READ, "entries": _ENTRIES, "resolve": _RESOLVED}


def read_text(runner: Runner, node: str, path: PurePath) -> str:
    """Return the text of a file; raises `HostError` if it cannot be read or is not UTF-8."""
    text = _ask(runner, node, _READ, path, "read")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _failed(runner, node, path, "read", "it is not UTF-8") from error
    return text


def entries(runner: Runner, node: str, path: PurePath) -> list[str]:
    """Return the names in a directory; raises `HostError` if it cannot be listed."""
    return sorted(_ask(runner, node, _ENTRIES, path, "listed").split("\0")[:-1])


def resolved(runner: Runner, node: str, paths: Sequence[PurePath]) -> list[Path]:
    """Return where paths lead without links; raises `HostError` if that cannot be told."""
    done = runner.run(script(_RESOLVED, *paths))
    if done.status:
        raise _failed(runner, node, paths[0], "resolved", last_words(done.errors, 1))
    return [Path(path) for path in done.output.split("\0")[:-1]]


def _ask(runner: Runner, node: str, body: str, path: PurePath, act: str) -> str:
    done = runner.run(script(body, path))
    if done.status:
        raise _failed(runner, node, path, act, last_words(done.errors, 1))
    return done.output


def _failed(runner: Runner, node: str, path: PurePath, act: str, why: str) -> HostError:
    return HostError(f"node `{node}`: `{path}` cannot be {act} on {runner.where}: {why}")
