"""Which process is the node's on its machine: asked of systemd, a pid file or a command.

A process is known by its id, its start time and, unless systemd vouches for it, its program.
"""

from typing import Any

from brownout.base.errors import HostError
from brownout.machine.commands import Answer, Runner, answer, script
from brownout.machine.processes import DESCRIBE, FUNCTIONS, Located, described
from brownout.machine.procfs import HIDDEN_HINT, hidden_words
from brownout.machine.ssh.spec import SshSpec

__all__ = ["MACHINE", "SCRIPTS", "locate", "question"]

MACHINE = """
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
echo "root $(stat -c %d:%i /)"
"""
_LOCATE = f"""{FUNCTIONS}
{DESCRIBE}
case $1 in
service)
  shown=$(systemctl show --property=LoadState,ActiveState,SubState,MainPID,Restart -- "$2") ||
    return 1
  echo "$shown" | sed 's/^\\([A-Za-z]*\\)=/\\1 /'
  pids=$(echo "$shown" | sed -n 's/^MainPID=//p');;
pid_file) pids=$(cat -- "$2" 2>/dev/null);;
pid_command) pids=$(/bin/sh -c "$2" 2>/dev/null);;
esac
for pid in $pids; do
  case $pid in 0|*[!0-9]*) continue;; esac
  describe "$pid"
  [ -e "/proc/$pid/stat" ] || case $(kill -0 "$pid" 2>&1) in *ermitted*) echo "hidden $pid";; esac
done
if [ -n "$3" ]; then
  /bin/sh -c "$3" >/dev/null 2>&1
  echo "status $?"
fi
clock
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"locate": _LOCATE, "machine": MACHINE}


def locate(node: str, spec: SshSpec, runner: Runner) -> Located:
    """Ask the node's machine for its process.

    Raises `HostError` where the answer is not to be trusted: no such unit, several processes, one
    that runs another program, or one that is hidden from us.
    """
    how, value, status = question(spec)
    done = runner.run(script(_LOCATE, how, value, status))
    reply = answer(done, f"looking for the process of node `{node}`", runner.where)
    if reply.get("LoadState", "loaded") not in ("loaded", "masked"):
        raise HostError(
            f"node `{node}`: {runner.where} has no `{spec.service}` ({reply.get('LoadState')})",
            "correct `service` in the inventory; `systemctl list-units` shows what there is",
        )
    processes = described(reply, done)
    if (hidden := reply.number("hidden")) is not None and not processes:
        raise HostError(f"node `{node}`: {hidden_words(hidden)} on {runner.where}", HIDDEN_HINT)
    wanted = [one for one in processes if spec.commands is None or one.runs(spec.commands.program)]
    if len(wanted) > 1 or (processes and not wanted and how == "pid_command"):
        names = ", ".join(f"{one.pid} ({one.program})" for one in processes)
        raise HostError(f"node `{node}`: {how} names process {names}, wanted one of its own")
    if wanted:
        return Located(wanted[0], evidence=_service(reply))
    stale = {"stale_pid": processes[0].pid} if processes else {}
    return Located(None, _unrest(reply, spec), {**_service(reply), **stale})


def question(spec: SshSpec) -> tuple[str, str, str]:
    """Return how the node's process is found: the way, its value, and a command of its status."""
    if spec.commands is None:
        return "service", spec.service, ""
    if spec.commands.pid_file is not None:
        return "pid_file", str(spec.commands.pid_file), spec.commands.status
    return "pid_command", spec.commands.pid_command, spec.commands.status


def _service(reply: Answer) -> dict[str, Any]:
    if not reply.get("ActiveState"):
        return {}
    return {"unit": f"{reply.get('ActiveState')} ({reply.get('SubState')})",
            "restarts": reply.get("Restart")}  # fmt: skip


def _unrest(reply: Answer, spec: SshSpec) -> str:
    """Return what contradicts that the node is at rest although it has no process."""
    active = reply.get("ActiveState", "inactive")
    if active not in ("inactive", "failed"):
        return f"systemd says that `{spec.service}` is {active} ({reply.get('SubState')})"
    if reply.get("status") == "0":
        return "its status command says that it runs"
    return ""
