"""Starting a node's process on this machine, so that it outlives us, and seeing that it lives.

By `posix_spawn` and not by a script: our child can be collected when it ends at once, and what it
says then is known.
"""

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.secret import environment_without_secrets
from brownout.base.wait import wait_until
from brownout.inventory.model import ProcessSpec
from brownout.machine import clock, control_groups, network, user_namespace
from brownout.machine.host import Proof
from brownout.machine.processes import Process

__all__ = ["last_words", "launch", "start_command", "why_not_started"]

#: A process that neither ended nor listens after this long is taken as started.
_GRACE_S = 1.0
#: So long a process may be without a command line, while its program is read from the disk.
_READ_S = 30.0
_POLL_S = 0.02
#: Its process id is on disk before there is anything to lose sight of, and before a daemon that
#: the command leaves behind writes its own there. `exec` keeps the id.
_STARTER = (
    "/bin/sh",
    "-c",
    'cd "$1" && echo $$ >"$2" && { [ -z "$3" ] || echo $$ >"$3/cgroup.procs"; } && shift 3 && '
    'exec "$@"',
    "sh",
)


def launch(node: str, address: str, spec: ProcessSpec, find: Callable[[], Process | None]) -> Proof:
    """Start `node` as its command says; return once it listens, or has lived for a while.

    `find` tells its process by the pid file. Whether the database in it is ready is not asked here.
    Raises `HostError` with the end of the node's log if the process ends with an error.
    """
    own_address = spec.proxy.upstream if spec.proxy else address
    taken = _listens(own_address)  # by another program, so that an answer there says nothing
    before = time.monotonic()
    pid = _spawn(spec)
    started = time.monotonic()
    listening = _await(node, pid, spec, lambda: not taken and _listens(own_address))
    process = _await_process(pid, find)
    if process is None:
        raise _did_not_start(node, spec, "ended at once")
    if spec.clock_file is not None:
        clock.unlink_shared(process.pid)
    evidence = process.evidence(state="running", listening=listening)
    return Proof(started, started - before, evidence)


def start_command(spec: ProcessSpec) -> tuple[str, ...]:
    """Return the command that starts the process, in the namespaces that are its own."""
    own_user = user_namespace.enter() if spec.unprivileged else ()
    own_clock = clock.enter(spec.clock_file)
    return (*network.enter(spec.network_namespace), *own_user, *own_clock, *spec.command)


def _spawn(spec: ProcessSpec) -> int:
    """Start the command of `spec` detached, with its id in its pid file, and return that id.

    `os.posix_spawn` and not `subprocess.Popen`, because a Popen must be kept to the end of the
    child, which here is meant to live longer than we do.
    """
    place, log, command = spec.working_directory or Path.cwd(), spec.log_file, start_command(spec)
    _check_program(command[0], place)
    group = control_groups.own(spec.control_group)
    words = [*_STARTER, str(place), str(spec.pid_file), str(group or ""), *command]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log) if log else os.devnull, append, 0o640),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        # Or the node would keep what our caller let us have, as `flock` does its lock, to its end.
        *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited()),
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


def _inherited() -> list[int]:
    """Return the open files that a child of ours would get, but for the three of every program."""
    inherited = []
    for file in Path("/proc/self/fd").iterdir():
        number = int(file.name)
        try:
            if number > 2 and os.get_inheritable(number):
                inherited.append(number)
        except OSError:  # that of the list itself
            continue
    return inherited


def _exit_status(pid: int) -> int | None:
    """Return how our child `pid` ended (128 + signal if by one); None while it runs or is not ours.

    It is collected by this.
    """
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    if not ended:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def why_not_started(spec: ProcessSpec) -> str:
    """Return why its `command` cannot be started, as far as that is known without trying."""
    place = spec.working_directory or Path.cwd()
    return "" if _finds(spec.command[0], place) else _not_found(spec.command[0])


def _check_program(program: str, directory: Path) -> None:
    """Say what is missing, which a shell would say only to the log."""
    if not _finds(program, directory):
        raise HostError(_not_found(program))


def _finds(program: str, directory: Path) -> bool:
    return shutil.which(str(directory / program) if "/" in program else program) is not None


def _not_found(program: str) -> str:
    return f"`{program}` cannot be started: no such program was found here"


def _await(node: str, pid: int, spec: ProcessSpec, listens: Callable[[], bool]) -> bool:
    """Wait until the process listens or has lived for a while; return whether it listens.

    An exit with 0 is that of a command which leaves a daemon behind.
    """

    def listens_or_ended() -> bool:
        if status := _exit_status(pid):
            raise _did_not_start(node, spec, f"ended at once with status {status}")
        return listens()

    return wait_until(listens_or_ended, _GRACE_S, _POLL_S)


def _await_process(pid: int, find: Callable[[], Process | None]) -> Process | None:
    """Return what `find` finds; it finds nothing while our child `pid` has no command line yet."""
    processes: list[Process] = []

    def found_or_ended() -> bool:
        runs = _exit_status(pid) is None and Path(f"/proc/{pid}").exists()
        if process := find():
            processes.append(process)
        return bool(processes) or not runs

    wait_until(found_or_ended, _READ_S, _POLL_S)
    return processes[0] if processes else None


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=0.2):
            return True
    except OSError:
        return False


def _did_not_start(node: str, spec: ProcessSpec, how: str) -> HostError:
    return HostError(f"node `{node}` did not start: it {how}{last_words(spec)}")


def last_words(spec: ProcessSpec) -> str:
    """Return the end of the node's log as the end of a sentence; nothing if it has none."""
    if spec.log_file is None:
        return ""
    try:
        lines = spec.log_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "; its log ends: " + " | ".join(line[:300] for line in lines[-2:])
