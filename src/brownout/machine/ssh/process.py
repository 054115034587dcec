"""Which process is the node's on its machine: asked of systemd, a pid file or a command.

A process is known by its id, its start time and, unless systemd vouches for it, its program.

A unit that systemd made of a SysV script has no main process (`GuessMainPID=no`): the node is then
the process of its control group from which all others there descend, besides what only starts a
program, such as a shell.

Sources: systemd.service(5), systemd-sysv-generator(8).
"""

from collections.abc import Sequence
from typing import Any

from brownout.base.errors import HostError
from brownout.machine.commands import Answer, Runner, answer, script
from brownout.machine.processes import DESCRIBE, FUNCTIONS, Located, Process, described
from brownout.machine.procfs import HIDDEN_HINT, hidden_words
from brownout.machine.ssh.spec import SshSpec

__all__ = ["MACHINE", "PIDS_OF_UNIT", "SCRIPTS", "locate", "question"]

MACHINE = """
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
echo "root $(stat -c %d:%i /)"
echo "network $(stat -L -c %i /proc/self/ns/net)"
"""
#: `pids_of_unit UNIT` prints its main process, or those on top of its control group; of a unit
#: that starts or stops only the former. Of a name, the kernel keeps 15 letters.
PIDS_OF_UNIT = r"""
pids_of_unit() (
  shown=$(systemctl show --property=ActiveState,MainPID,ControlGroup -- "$1")
  pid=$(echo "$shown" | sed -n 's/^MainPID=//p')
  case $pid in ''|0) ;; *) echo "$pid"; exit;; esac
  [ "$(echo "$shown" | sed -n 's/^ActiveState=//p')" = active ] || exit
  group=$(echo "$shown" | sed -n 's/^ControlGroup=//p')
  case $group in ''|/) exit;; esac
  for place in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    find "$place$group" -name cgroup.procs -exec cat {} + 2>/dev/null
  done | sort -u | while read -r pid; do
    sed -n 's/^\([0-9]*\) (\(.*\)) [A-Za-z] \([0-9]*\) .*/\1 \3 \2/p' "/proc/$pid/stat" 2>/dev/null
  done | awk '
    BEGIN {
      n = split("sh ash bash dash ksh zsh su sudo runuser nohup daemon start-stop-daem", names, " ")
      for (i = 1; i <= n; i++) starts[names[i]] = 1
    }
    { parent[$1] = $2; if ($3 in starts) starter[$1] = 1; else others = 1 }
    END {
      for (pid in parent) {
        if (others && pid in starter) continue
        above = parent[pid]
        while (others && above in starter) above = parent[above]
        if (!(above in parent)) print pid
      }
    }'
)
"""
_LOCATE = f"""{FUNCTIONS}
{DESCRIBE}
{PIDS_OF_UNIT}
case $1 in
service)
  shown=$(systemctl show --property=LoadState,ActiveState,SubState,MainPID,Restart,Type -- "$2") ||
    return 1
  echo "$shown" | sed 's/^\\([A-Za-z]*\\)=/\\1 /'
  pids=$(echo "$shown" | sed -n 's/^MainPID=//p')
  [ "${{pids:-0}}" != 0 ] || pids=$(pids_of_unit "$2");;
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
    if how == "service":
        _check_unit(node, spec.service, reply, processes, runner.where)
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


def _check_unit(
    node: str, unit: str, reply: Answer, processes: Sequence[Process], where: str
) -> None:
    """Raise `HostError` where a unit that is active does not show which process is the node's.

    Only one of `Type=oneshot` stays active for good without any; others are about to change.
    """
    state = f"{reply.get('ActiveState')} ({reply.get('SubState')})"
    if reply.get("ActiveState") != "active" or reply.number("MainPID"):
        return
    names = ", ".join(f"{one.pid} ({one.program})" for one in processes) or "none"
    if len(processes) > 1 or (not processes and reply.get("Type") == "oneshot"):
        raise HostError(
            f"node `{node}`: `{unit}` on {where} is {state} and has no main process; those on top "
            f"of its control group: {names}, wanted one",
            "name the unit that runs the server itself, or use `commands` with `pid_file` in the "
            "inventory",
        )


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
