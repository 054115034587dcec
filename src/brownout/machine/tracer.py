"""Delaying or failing system calls of a node's processes by a tracer, strace (ptrace(2)).

Every thread of the node's processes is traced, and what they fork meanwhile. The tracer is the
fault: where it ends, also by SIGKILL, the kernel lets the processes run as before. `timeout` ends
it after a limit, and the kernel ends it with `timeout`; neither needs us or the shell above them:

    /bin/sh -c … brownout-undo-disk-slow n1-27017 tracer 60                the switch
    └─ timeout 60 …                                                        its limit
       └─ strace -o /tmp/brownout-n1-27017-disk_slow.k3JxQ0 -p 4711 …      the fault

strace sees the calls of a process, not what the kernel does for it: io_uring and writes to mapped
memory pass unseen. It stops a process at every call, injected or not, which costs a little; a
tracer that delays nothing shows how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from brownout.base.errors import Denied, HostError, Unsupported
from brownout.inventory.model import Node
from brownout.machine import deadman, processes, server_directory
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof
from brownout.machine.moments import bracket

__all__ = ["Tracer"]

#: How long the script may take that starts it: to stop every thread once, three times over.
_WITHIN_S = 60.0
_TOOLS = "strace setsid setpriv timeout mktemp awk"
_PACKAGES = "strace, util-linux, coreutils, mawk"

#: The switch, which finds the rest in its environment.
_TRACE = (
    'timeout --foreground "$3" setpriv --pdeathsig TERM strace -f -qq -c -o "$seen" '
    '-e "trace=$calls" -e "inject=$calls:$how" $traced 2> "$seen.errors"; '
    'rm -f "$seen" "$seen.errors"'
)

#: `tracers NODE` prints the ids of ours, `show NODE` what each injects. `threads TRACER PIDS`
#: prints how many live threads it traces and how many not; `ended PIDS` is true where none lives.
#: `counts` reads what a tracer that ended has counted, and prints how often it saw which call and
#: how many calls failed. `finish NODE` ends them, and prints that and how many calls they held.
_FUNCTIONS = r"""
tracers() {
  grep -lsF -- "brownout-$1-$kind." /proc/[0-9]*/cmdline | while read -r line; do
    pid=${line#/proc/}; pid=${pid%%/*}
    read -r comm 2>/dev/null < "/proc/$pid/comm" && [ "$comm" = strace ] && echo "$pid"
  done
}
words_of() { tr '\0' '\n' 2>/dev/null < "/proc/$1/cmdline"; }
show() {
  for pid in $(tracers "$1"); do
    echo "tracer $pid"
    words_of "$pid" | sed -n 's/^inject=/injected /p'
  done
}
threads() {
  tracer=$1; shift
  for pid; do cat "/proc/$pid/task/"*/status 2>/dev/null; done | awk -v ours="$tracer" '
    /^State:/ { state = $2 }
    /^TracerPid:/ && state != "Z" && state != "X" { if ($2 == ours) n++; else others++ }
    END { print n + 0, others + 0 }'
}
ended() { [ "$(threads none $(tree "$@"))" = "0 0" ]; }
counts() {
  awk 'NF >= 5 && $4 ~ /^[0-9]+$/ && $NF != "total" {
    print "hit " $NF " " $4
    if (NF > 5) failed += $5
  } END { print "failed " failed + 0 }'
}
finish() {
  files=
  for pid in $(tracers "$1"); do
    files="$files $(words_of "$pid" | grep -F -m 1 -- "brownout-$1-$kind.")"
    cat /proc/[0-9]*/task/[0-9]*/status 2>/dev/null | awk -v ours="$pid" '
      /^State:/ { state = $2 }
      /^TracerPid:/ && $2 == ours && state == "t" { n++ }
      END { print "held " n + 0 }'
  done
  disarm "$(switches "$1" tracer)"
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    left=$(tracers "$1")
    [ -n "$left" ] || break
    [ "$try" -lt 15 ] && kill -s TERM $left 2>/dev/null || kill -s KILL $left 2>/dev/null
    sleep 0.1
  done
  for file in $files; do counts < "$file"; done 2>/dev/null
  find "${TMPDIR:-/tmp}" -maxdepth 1 -name "brownout-$1-$kind.*" -user "$(id -u)" -delete
  [ -z "$left" ]
}
"""
#: `$1` the process of the node, empty where it does not run.
_WHY_NOT = rf"""
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
[ "$scope" != 3 ] || {{ echo "denied kernel.yama.ptrace_scope is 3"; return 0; }}
able=$(sed -n 's/^CapEff:.*\(.\)....$/\1/p' /proc/self/status)
case $able in [89a-f]) return 0;; esac
[ "$scope" = 0 ] || {{ echo "denied kernel.yama.ptrace_scope is $scope"; return 0; }}
[ -z "$1" ] || [ "$(stat -c %u "/proc/$1")" = "$(id -u)" ] ||
  echo "denied it is a process of another user"
"""
#: `$1` node, then processes.
_TRACED = f"""{processes.TREE}
node=$1; shift
for pid in $(tree "$@"); do cat "/proc/$pid/task/"*/status 2>/dev/null; done |
  sed -n 's/^TracerPid:\\t*//p' | sort -u | while read -r tracer; do
    [ "$tracer" != 0 ] || continue
    tr '\\0' ' ' < "/proc/$tracer/cmdline" | grep -qF -- "/brownout-$node-$kind." ||
      echo "other $tracer $(cat "/proc/$tracer/comm")"
  done
return 0
"""
#: `$1` node, `$2` calls, `$3` how they are injected, `$4` limit in s, then processes. A node may
#: end by the very first call, and its tracer with it. What that counted is read through descriptor
#: 9, since the switch removes the file.
_START = """
node=$1 calls=$2 how=$3 seconds=$4; shift 4
show "$node" | sed 's/^/was_/'
finish "$node" > /dev/null || { echo "the tracer of before does not end" >&2; return 1; }
stamp began
stamp last_no
for attempt in 1 2 3; do
  seen=$(mktemp -t "brownout-$node-$kind.XXXXXX") || return 1
  exec 9< "$seen"
  traced=
  for pid in $(tree "$@"); do traced="$traced -p $pid"; done
  export seen calls how traced
  arm "$node" tracer "$seconds" 9<&- || {
    rm -f "$seen"
    ended "$@" && break
    return 1
  }
  for try in $(seq 150); do
    ours=$(tracers "$node")
    counted=$(threads "${ours:-none}" $(tree "$@"))
    [ -n "$ours" ] && [ "${counted#* }" = 0 ] && [ "${counted% *}" -gt 0 ] && break 2
    errors=$(head -n 2 "$seen.errors" 2>/dev/null)
    case $errors in *ermitted*) break;; esac
    grep -qs . "/proc/$switch/cmdline" || break
    sleep 0.02
  done
  finish "$node" > /dev/null
  ours=
  case $errors in *ermitted*) break;; esac
  ended "$@" && break
done
now=$(show "$node")
if [ -z "$now" ] && ended "$@"; then
  counts <&9
  stamp first_yes
  stamp ended
  echo "gone node"
  return 0
fi
[ -n "$ours" ] || { echo "${errors:-it does not have every thread}" >&2; return 1; }
stamp first_yes
stamp ended
echo "switch $switch"
echo "threads ${counted% *}"
for pid in $(tree "$@"); do readlink "/proc/$pid/fd/"* 2>/dev/null; done |
  grep -q "io_uring" && echo "unseen io_uring"
echo "$now"
"""
#: `$1` node.
_END = """
stamp began
stamp last_no
show "$1" | sed 's/^/was_/'
finish "$1" || { echo "the tracer does not end" >&2; return 1; }
stamp first_yes
stamp ended
show "$1"
"""
_NODE = '[ "$1" = "$may_node" ]'
_EACH_OURS = 'for each; do may_ours "$each" || return 1; done'


@dataclass(frozen=True)
class Tracer:
    """One kind of fault that a tracer makes, `disk_slow`; its scripts are named after it.

    `allowed` is shell that returns 0 where `$1` is a way to inject that a login may be allowed.
    """

    act: str
    undone_by: str
    allowed: str

    @cached_property
    def _functions(self) -> str:
        switch = deadman.functions(f"brownout-undo-{self.act.replace('_', '-')}", _TRACE)
        return f"kind={self.act}\n{switch}\n{processes.TREE}\n{_FUNCTIONS}"

    @cached_property
    def scripts(self) -> dict[str, Program]:
        """Return what may run as a program of its own, by name (`ssh.helpers`)."""
        may_start = (
            f'{_NODE} && may_numbers "$4" || return 1; '
            f'case $2 in *[!a-z0-9_,?]*) return 1;; esac; (set -- "$3"; {self.allowed}) || '
            f"return 1; shift 4; {_EACH_OURS}"
        )
        name = self.act.replace("_", "-")
        return {
            f"why-no-{name}": Program(
                f"kind={self.act}\n{_WHY_NOT}", '[ -z "$1" ] || may_ours "$1"'
            ),
            f"{name}-others": Program(
                f"kind={self.act}\n{_TRACED}", f"{_NODE} || return 1; shift; {_EACH_OURS}"
            ),
            name: Program(self._start, may_start, act=self.act, undone_by=self.undone_by),
            f"{name}-undo": Program(self._end, _NODE, act=self.undone_by),
            f"{name}-left": Program(self._show, _NODE),
        }

    @cached_property
    def _start(self) -> str:
        return self._functions + _START

    @cached_property
    def _end(self) -> str:
        return self._functions + _END

    @cached_property
    def _show(self) -> str:
        return f'{self._functions}\nshow "$1"\n'

    def why_not(self, node: Node, host: Host) -> str:
        """Return why no tracer can have this node's processes; empty if one can."""
        shell = host.shell()
        where = shell.runner.where
        body = f"kind={self.act}\n{_WHY_NOT}"
        pid = shell.process.pid if shell.process else ""
        reply = answer(shell.runner.run(script(body, pid)), "looking for a tracer", where)
        if missing := reply.all("missing"):
            names = ", ".join(missing)
            return f"node `{node.name}`: {names} not found on {where} (Debian: {_PACKAGES})"
        if denied := reply.get("denied"):
            return (
                f"node `{node.name}`: the login on {where} may not trace its process: {denied} "
                "(root may, and who has CAP_SYS_PTRACE)"
            )
        return ""

    def why_not_now(self, node: Node, host: Host) -> list[str]:
        """Return who traces the node's processes now: a process has one tracer."""
        shell = host.shell()
        if shell.process is None:
            return []
        body = f"kind={self.act}\n{_TRACED}"
        words = (node.key, *server_directory.pids_of(shell))
        done = shell.runner.run(script(body, *words))
        reply = answer(done, "looking who traces it", shell.runner.where)
        return [
            f"node `{node.name}`: process {pid} ({program}) traces it already, and a process has "
            "one tracer"
            for pid, _, program in (each.partition(" ") for each in reply.all("other"))
        ]

    def start(
        self, node: Node, host: Host, calls: Sequence[str], how: str, undo_after_s: float | None
    ) -> Proof:
        """Inject `how` into these calls of the node; proven when every thread is traced.

        It is also proven by what the tracer counted if the node ends before that: a server may
        end by the first flush that fails. Then the evidence has `node_ended` and `calls_hit`.
        Otherwise it says which calls the tracer sees and whether the node also uses io_uring.
        """
        shell = host.shell()
        if shell.process is None:
            raise Denied(f"node `{node.name}` is not traced: it is not running", "start it")
        limit_s = undo_after_s or shell.undo_after_s
        seen = ",".join(f"?{each}" for each in calls)
        words = (node.key, seen, how, f"{limit_s:g}")
        pids = server_directory.pids_of(shell)
        done = shell.runner.run(script(self._start, *words, *pids), _WITHIN_S)
        reply = answer(done, f"tracing node `{node.name}`", shell.runner.where)
        effective, uncertainty_s = bracket(done, reply)
        if reply.get("gone"):
            hit = _hit(reply)
            if not (reply.number("failed") if how.startswith("error=") else hit):
                raise HostError(f"node `{node.name}` ended before {how} met one of its calls")
            evidence = {"by": "strace", "calls": list(calls), "calls_hit": hit, "node_ended": True}
            return Proof(effective, uncertainty_s, evidence)
        there = reply.get("injected")
        if there != f"{seen}:{how}":
            raise HostError(f"node `{node.name}`: found {there!r}, wanted {seen}:{how}")
        evidence = {
            "by": "strace",
            "tracer": reply.number("tracer"),
            "threads": reply.number("threads"),
            "calls": list(calls),
            "not_seen": "io_uring, which the node uses" if reply.get("unseen") else "mapped writes",
            "undo_after_s": limit_s,
            "undo_pid": reply.number("switch"),
        }
        return Proof(effective, uncertainty_s, evidence, already=reply.get("was_injected") == there)

    def end(self, node: Node, host: Host) -> Proof:
        """Let the calls be as they were; safe to repeat. The evidence says how many were hit."""
        runner = host.shell().runner
        done = runner.run(script(self._end, node.key))
        reply = answer(done, f"ending the tracer of node `{node.name}`", runner.where)
        if reply.get("injected"):
            raise HostError(f"node `{node.name}` is still traced")
        effective, uncertainty_s = bracket(done, reply)
        evidence = {"calls_hit": _hit(reply), "calls_held": reply.number("held") or 0}
        return Proof(effective, uncertainty_s, evidence, already=not reply.get("was_tracer"))

    def injected(self, node: Node, host: Host) -> tuple[int, str]:
        """Return the id of our tracer and how it injects, `(4711, "delay_enter=50000")`.

        `(0, "")` without one.
        """
        try:
            runner = host.shell().runner
        except Unsupported:
            return 0, ""
        reply = answer(
            runner.run(script(self._show, node.key)),
            "looking for a tracer",
            runner.where,
        )
        return reply.number("tracer") or 0, reply.get("injected").partition(":")[2]


def _hit(reply: Answer) -> dict[str, int]:
    """Return how often the tracer saw which call."""
    return {call: int(n) for call, _, n in (each.partition(" ") for each in reply.all("hit"))}
