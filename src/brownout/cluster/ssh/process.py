"""Which process is the node's on its machine: asked of systemd, a pid file or a command.

A process is known by its id, its start time and, unless systemd vouches for it, its program.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from brownout.cluster.commands import Answer, Completed, Runner, answer, script
from brownout.cluster.ssh.spec import SshSpec
from brownout.errors import HostError

__all__ = ["FUNCTIONS", "Located", "RemoteProcess", "locate"]

#: Shell functions that set a variable of their name and fork nothing, so that they can be asked
#: every few milliseconds. A first thread may be a zombie while others go on.
FUNCTIONS = """\
started() {
  { IFS= read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  set -- ${stat##*) }
  started=${20}
}
states() {
  states=
  for task in "/proc/$1/task"/*/stat; do
    { IFS= read -r stat < "$task"; } 2>/dev/null || continue
    stat=${stat##*) }; states=$states${stat%% *}
  done
}
alive() {
  started "$1" && [ "$started" = "$2" ] || return 1
  states "$1"
  case $states in *[!ZX]*) return 0;; esac
  return 1
}
frozen() {
  states "$1"
  case $states in ''|*[!TtZX]*) return 1;; *[!ZX]*) return 0;; esac
  return 1
}
"""

_LOCATE = f"""{FUNCTIONS}
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
  started "$pid" && alive "$pid" "$started" || continue
  echo "pid $pid"
  echo "started $started"
  echo "states $states"
  echo "comm $(cat "/proc/$pid/comm")"
  echo "exe $(readlink "/proc/$pid/exe")"
  echo "command $(base64 -w0 < "/proc/$pid/cmdline")"
done
if [ -n "$3" ]; then
  /bin/sh -c "$3" >/dev/null 2>&1
  echo "status $?"
fi
read -r uptime rest < /proc/uptime
echo "uptime $uptime"
echo "ticks $(getconf CLK_TCK)"
"""

_STOPPED = frozenset("TtZX")


@dataclass(frozen=True, slots=True)
class RemoteProcess:
    """One process for good: `started` is in clock ticks since its machine booted.

    It began between `born_after` and `born_by`, by its age and our `time.monotonic()`.
    """

    pid: int
    started: int
    states: frozenset[str]
    program: str
    executable: str
    command: tuple[str, ...]
    born_after: float
    born_by: float

    @property
    def paused(self) -> bool:
        """Whether every thread of it is stopped."""
        return self.states <= _STOPPED

    def runs(self, program: str) -> bool:
        """Whether it is `program`, by its name, its file or the first word of its command."""
        names = {PurePath(self.executable).name, *(PurePath(w).name for w in self.command[:1])}
        return program in names or self.program == program[:15]  # the kernel keeps 15 letters

    def evidence(self, **seen: Any) -> dict[str, Any]:
        """Return who it is and what was `seen` of it, for JSON; its arguments stay out."""
        return {"pid": self.pid, "started_ticks": self.started, "program": self.program, **seen}


@dataclass(frozen=True, slots=True)
class Located:
    """The node's process, or that it has none; `unrest` then says why it may soon have one."""

    process: RemoteProcess | None
    unrest: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def locate(node: str, spec: SshSpec, runner: Runner) -> Located:
    """Ask the node's machine for its process.

    Raises `HostError` where the answer is not to be trusted: no such unit, several processes, or
    one that runs another program.
    """
    how, value, status = _question(spec)
    done = runner.run(script(_LOCATE, how, value, status))
    said = answer(done, f"looking for the process of node `{node}`", runner.where)
    if said.get("LoadState", "loaded") not in ("loaded", "masked"):
        raise HostError(
            f"node `{node}`: {runner.where} has no unit `{spec.service}` ({said.get('LoadState')})",
            "correct `service` in the inventory; `systemctl list-units` shows what there is",
        )
    found = _processes(said, done)
    wanted = [one for one in found if spec.commands is None or one.runs(spec.commands.program)]
    if len(wanted) > 1 or (found and not wanted and how == "pid_command"):
        names = ", ".join(f"{one.pid} ({one.program})" for one in found)
        raise HostError(f"node `{node}`: {how} names process {names}, wanted one of its own")
    if wanted:
        return Located(wanted[0], evidence=_service(said))
    stale = {"stale_pid": found[0].pid} if found else {}
    return Located(None, _unrest(said, spec), {**_service(said), **stale})


def _question(spec: SshSpec) -> tuple[str, str, str]:
    if spec.commands is None:
        return "service", spec.service, ""
    if spec.commands.pid_file is not None:
        return "pid_file", str(spec.commands.pid_file), spec.commands.status
    return "pid_command", spec.commands.pid_command, spec.commands.status


def _processes(said: Answer, done: Completed) -> list[RemoteProcess]:
    columns = [said.all(n) for n in ("pid", "started", "states", "comm", "exe", "command")]
    uptime, ticks = float(said.get("uptime", "0")), said.number("ticks") or 100

    def age_s(started: str) -> float:
        return uptime - int(started) / ticks

    return [
        RemoteProcess(
            pid=int(pid),
            started=int(started),
            states=frozenset(states),
            program=comm,
            executable=exe.removesuffix(" (deleted)"),
            command=_words(command),
            born_after=done.sent - age_s(started),
            born_by=done.received - age_s(started),
        )
        for pid, started, states, comm, exe, command in zip(*columns, strict=True)
    ]


def _words(encoded: str) -> tuple[str, ...]:
    words = base64.b64decode(encoded).split(b"\0")[:-1]
    return tuple(word.decode(errors="surrogateescape") for word in words)


def _service(said: Answer) -> dict[str, Any]:
    if not said.get("ActiveState"):
        return {}
    return {"unit": f"{said.get('ActiveState')} ({said.get('SubState')})",
            "restarts": said.get("Restart")}  # fmt: skip


def _unrest(said: Answer, spec: SshSpec) -> str:
    """Return what contradicts that the node is at rest although it has no process."""
    active = said.get("ActiveState", "inactive")
    if active not in ("inactive", "failed"):
        return f"systemd says that `{spec.service}` is {active} ({said.get('SubState')})"
    if said.get("status") == "0":
        return "its status command says that it runs"
    return ""
