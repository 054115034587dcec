"""Starting a process that outlives us: its own session, no terminal, its own log."""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.secret import environment_without_secrets

__all__ = ["exit_status", "spawn"]

#: Its process id is on disk before there is anything to lose sight of, and before a daemon that
#: the command leaves behind writes its own there. `exec` keeps the id.
_STARTER = ("/bin/sh", "-c", 'cd "$1" && echo $$ >"$2" && shift 2 && exec "$@"', "sh")


def spawn(command: Sequence[str], pid_file: Path, log: Path | None, directory: Path | None) -> int:
    """Start `command` detached, with its id in `pid_file`, and return that id.

    `os.posix_spawn` and not `subprocess.Popen`, because a Popen must be kept to the end of the
    child, which here is meant to live longer than we do.
    """
    place = directory or Path.cwd()
    _check_program(command[0], place)
    words = [*_STARTER, str(place), str(pid_file), *command]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log) if log else os.devnull, append, 0o640),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return os.posix_spawn(
            words[0],
            words,
            environment_without_secrets(),
            file_actions=files,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE,),  # Python ignores it, and that would be inherited
        )
    except OSError as error:
        raise HostError(f"`{command[0]}` cannot be started: {error.strerror}") from error


def exit_status(pid: int) -> int | None:
    """Return how our child `pid` ended (128 + signal if by one); None while it runs or is not ours.

    It is collected by this.
    """
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    if not found:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _check_program(program: str, directory: Path) -> None:
    """Say what is missing, which a shell would say only to the log."""
    found = shutil.which(str(directory / program) if "/" in program else program)
    if found is None:
        raise HostError(f"`{program}` cannot be started: it is no program that can be found here")
