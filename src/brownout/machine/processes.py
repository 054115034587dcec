"""Processes of a node's machine: who they are, and in which state.

A process is known by its id and its start time; scripts name it by both.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from brownout.machine.commands import Answer, Completed, Runner, answer, script

__all__ = ["DESCRIBE", "FUNCTIONS", "TREE", "Located", "Process", "by_id", "described"]

#: Shell functions that set a variable of their name and fork nothing, so that they can be asked
#: every few milliseconds. A first thread may be a zombie while others still run.
FUNCTIONS = """\
started() {
  { IFS= read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  set -- ${stat##*) }
  parent=$2 started=${20}
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

#: `describe PID` prints a process that lives, `clock` what its age is told by; see `described`.
DESCRIBE = """\
describe() {
  started "$1" && alive "$1" "$started" || return 0
  echo "pid $1"
  echo "started $started"
  echo "parent $parent"
  echo "states $states"
  echo "comm $(cat "/proc/$1/comm")"
  echo "exe $(readlink "/proc/$1/exe")"
  echo "command $(base64 -w0 < "/proc/$1/cmdline")"
}
clock() {
  read -r uptime rest < /proc/uptime
  echo "uptime $uptime"
  echo "ticks $(getconf CLK_TCK)"
}
"""
#: `tree PIDS` prints these processes and all that descend from them.
TREE = r"""\
tree() {
  cat /proc/[0-9]*/stat 2>/dev/null \
    | sed -n 's/^\([0-9]*\) (.*) [A-Za-z] \([0-9]*\) .*/\1 \2/p' \
    | awk -v roots="$*" '
        BEGIN { n = split(roots, r, " "); for (i = 1; i <= n; i++) ours[r[i]] = 1 }
        { parent[$1] = $2 }
        END {
          do {
            more = 0
            for (p in parent) if (!(p in ours) && (parent[p] in ours)) { ours[p] = 1; more = 1 }
          } while (more)
          for (p in ours) print p
        }'
}
"""

_STOPPED = frozenset("TtZX")


_BY_ID = f"""{FUNCTIONS}
{DESCRIBE}
describe "$1"
clock
"""


@dataclass(frozen=True, slots=True)
class Process:
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
    parent: int = 0

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

    process: Process | None
    unrest: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def by_id(runner: Runner, pid: int) -> Process | None:
    """Return the process of this id where `runner` runs scripts; None if it does not live."""
    done = runner.run(script(_BY_ID, pid))
    reply = answer(done, f"looking at process {pid}", runner.where)
    return next(iter(described(reply, done)), None)


def described(reply: Answer, done: Completed) -> list[Process]:
    """Return the processes that a script described, by `describe` and, once, `clock`."""
    columns = [reply.all(n) for n in ("pid", "started", "states", "comm", "exe", "command")]
    parents = reply.all("parent") or ["0"] * len(columns[0])  # a helper of before does not say it
    uptime, ticks = float(reply.get("uptime", "0")), reply.number("ticks") or 100

    def age_s(started: str) -> float:
        return uptime - int(started) / ticks

    return [
        Process(
            pid=int(pid),
            started=int(started),
            states=frozenset(states),
            program=comm,
            executable=exe.removesuffix(" (deleted)"),
            command=_words(command),
            born_after=done.sent - age_s(started),
            born_by=done.received - age_s(started),
            parent=int(parent),
        )
        for pid, started, states, comm, exe, command, parent in zip(*columns, parents, strict=True)
    ]


def _words(encoded: str) -> tuple[str, ...]:
    words = base64.b64decode(encoded).split(b"\0")[:-1]
    return tuple(word.decode(errors="surrogateescape") for word in words)
