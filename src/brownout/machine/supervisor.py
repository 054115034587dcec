"""Killing what supervises a node's server, and nothing else.

A node whose inventory names `server_directory` has two kinds of processes: its own, which a
service manager starts, and the servers that work in that directory under it.
"""

from brownout.base.errors import HostError, Refused
from brownout.base.wait import wait_until
from brownout.machine import server_directory, signals
from brownout.machine.commands import answer, script
from brownout.machine.host import Proof, Shell, already
from brownout.machine.processes import Process

__all__ = ["SCRIPTS", "kill", "plan", "servers", "why_not"]

#: A service manager such as systemd ends the server a moment after its supervisor.
_ENDS_BOTH_WITHIN_S = 1.0
#: `$1` unit.
_KILL_MODE = """
echo "mode $(systemctl show --property=KillMode --value -- "$1")"
"""
#: `$1` process. Its number in the innermost namespace of processes that it is in.
_NUMBER_INSIDE = """
echo "number $(sed -n 's/^NSpid:.*[[:space:]]//p' "/proc/$1/status" 2>/dev/null)"
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"kill-mode": _KILL_MODE, "number-inside": _NUMBER_INSIDE}


def why_not(shell: Shell) -> str:
    """Return why the node's own process cannot be killed alone; empty if it can."""
    node = f"node `{shell.node}`"
    if shell.server_directory is None:
        return (
            f"{node}: set `host.server_directory` in the inventory; without it the server cannot "
            "be distinguished from its supervisor"
        )
    if shell.unit:
        reply = answer(
            shell.runner.run(script(_KILL_MODE, shell.unit)),
            f"asking how `{shell.unit}` ends",
            shell.runner.where,
        )
        if (mode := reply.get("mode")) not in ("process", "none"):
            return (
                f"{node}: systemd kills the server with its supervisor: `{shell.unit}` has "
                f"KillMode={mode}, wanted process"
            )
    if shell.process is not None and _is_first(shell, shell.process):
        return f"{node}: its container ends with its supervisor, which is process 1 there"
    return ""


def servers(shell: Shell) -> list[int]:
    """Return the ids of the servers: what works in `server_directory` for no other one there."""
    if shell.server_directory is None:
        return []
    return server_directory.servers(shell.runner, shell.server_directory)


def kill(shell: Shell) -> Proof:
    """Kill the node's own process (SIGKILL); proven when it is gone and its servers still run."""
    process, running = shell.process, servers(shell)
    if process is None:
        return already({"state": "gone", "servers": running})
    if not running or process.pid in running:
        raise Refused(f"node `{shell.node}`: its process does not supervise another one")
    effect = signals.end(shell.runner, process, signals.SIGNAL_TIMEOUT_S, signal="KILL",
                         hold=shell.unit)  # fmt: skip
    signals.check(effect, shell.node, "gone", "SIGKILL")
    ended = wait_until(lambda: set(running) - set(servers(shell)), _ENDS_BOTH_WITHIN_S)
    if ended:
        pids = ", ".join(map(str, sorted(ended)))
        raise HostError(
            f"node `{shell.node}`: its server (process {pids}) ended with its supervisor",
            "see what ends both, as `KillMode` of its service",
        )
    return effect.proof(process, signal="SIGKILL", servers=running)


def plan(shell: Shell) -> str:
    """Return what `kill` would do, for a plan."""
    process = shell.process.pid if shell.process else "none yet"
    return f"SIGKILL to process {process} of {shell.runner.where}, and to nothing it supervises"


def _is_first(shell: Shell, process: Process) -> bool:
    done = shell.runner.run(script(_NUMBER_INSIDE, process.pid))
    return answer(done, "looking at the supervisor", shell.runner.where).get("number") == "1"
