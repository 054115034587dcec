"""Moving files to and from another machine, each checked by its hash at the other end."""

import hashlib
from pathlib import Path, PurePosixPath

from brownout.base.errors import GeneratorError
from brownout.base.files import private_directory, replacing
from brownout.machine.commands import Answer, answer, script
from brownout.machine.ssh.connection import Connection, SshRunner
from brownout.machine.ssh.stream import Stream

__all__ = ["fetch", "fetch_all", "hash_of", "put"]

_TRANSFER_S = 600.0

#: Written beside its place and moved there, so that no half of a file is ever in it.
_PUT = 'cat > "$1.part" && chmod "$2" "$1.part" && mv -- "$1.part" "$1" && sha256sum < "$1" >&2'
_LIST = r"""
cd -- "$1" || return 1
find . -type f -exec sha256sum -- {} + | sed 's/^\([0-9a-f]*\) [ *]\.\//file \1 /'
"""


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(connection: Connection, source: Path, target: PurePosixPath, mode: str) -> str:
    """Copy a file to another machine and return its hash.

    Raises `GeneratorError` if what arrived there is something else.
    """
    command = ["/bin/sh", "-c", _PUT, "sh", str(target), mode]
    copying = Stream(connection, command, stdin=str(source))
    status, wanted = copying.wait(_TRANSFER_S), hash_of(source)
    if status or wanted not in copying.errors:
        raise GeneratorError(
            f"`{source}` could not be copied to `{target}` on {connection.where}: "
            f"{copying.errors.strip() or f'status {status}'}"
        )
    return wanted


def fetch_all(connection: Connection, source: PurePosixPath, target: Path) -> dict[str, str]:
    """Have every file below `source` on another machine in `target` here; return their hashes.

    Files that are here already are left alone. Raises `GeneratorError` if one arrives different.
    """
    sums = _listed(_ask(connection, source))
    for name, wanted in sums.items():
        here = target / name
        if not (here.is_file() and hash_of(here) == wanted):
            private_directory(here.parent)
            fetch(connection, source / name, here, wanted)
    return sums


def fetch(connection: Connection, source: PurePosixPath, target: Path, wanted: str) -> None:
    """Copy one file here; `wanted` is its hash there."""
    with replacing(target) as beside:
        copying = Stream(connection, ["cat", "--", str(source)], stdout=str(beside))
        status = copying.wait(_TRANSFER_S)
        if status or hash_of(beside) != wanted:
            raise GeneratorError(
                f"`{source}` on {connection.where} could not be fetched whole: "
                f"{copying.errors.strip() or 'its hash is another one here'}"
            )


def _ask(connection: Connection, directory: PurePosixPath) -> Answer:
    runner = SshRunner(connection)
    done = runner.run(script(_LIST, directory), timeout_s=120.0)
    return answer(done, f"listing `{directory}`", runner.where)


def _listed(reply: Answer) -> dict[str, str]:
    pairs = (line.partition(" ") for line in reply.all("file"))
    return {name: checksum for checksum, _, name in pairs}
