"""What a node's running process shows of itself in /proc: its command, and the files it has open.

It is a witness of its own of where a server keeps its data, whatever a configuration file says.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brownout.machine.commands import Runner, answer, script

__all__ = ["SCRIPTS", "Footprint", "footprint"]

#: `$1` names of variables, as `A|B`; further: processes, the node's own first. Only files that are
#: in a file system count, and block devices.
_FOOTPRINT = r"""
names=$1; shift
echo "command $(base64 -w0 < "/proc/$1/cmdline")"
echo "directory $(readlink "/proc/$1/cwd")"
[ -z "$names" ] || tr '\0' '\n' < "/proc/$1/environ" | grep -E "^($names)=" | sed 's/^/variable /'
for pid; do
  find -L "/proc/$pid/fd" -mindepth 1 -maxdepth 1 \( -type f -o -type b \) -exec readlink {} + |
    grep '^/' | grep -v ' (deleted)$' | grep -v -E '^/(memfd:|proc/|sys/)' | sed 's/^/file /'
done
return 0
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"footprint": _FOOTPRINT}


@dataclass(frozen=True, slots=True)
class Footprint:
    """One process: its `command`, the `variables` asked for, its `directory`, its open `files`.

    `files` are those of the node's other processes too, without links. What may not be seen is
    empty.
    """

    command: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    files: tuple[Path, ...] = ()


def footprint(runner: Runner, pids: Sequence[int], variables: Sequence[str]) -> Footprint | None:
    """Return what the first of `pids` shows, with the files of all; None if it shows nothing.

    Only these `variables` of its environment are read: others may hold secrets.
    """
    if not pids:
        return None
    done = runner.run(script(_FOOTPRINT, "|".join(variables), *pids))
    seen = answer(done, "looking at its process", runner.where)
    words = base64.b64decode(seen.get("command")).split(b"\0")[:-1]
    if not words:
        return None
    directory = seen.get("directory")
    pairs = (variable.partition("=") for variable in seen.all("variable"))
    return Footprint(
        command=tuple(word.decode(errors="surrogateescape") for word in words),
        variables={name: value for name, _, value in pairs},
        directory=Path(directory) if directory else None,
        files=tuple(dict.fromkeys(map(Path, seen.all("file")))),
    )
