"""Taking CPU time from a node, as a noisy neighbour of its machine does.

Processes of ours that never wait (*hogs*) run in a control group of their own beside the node's,
with the highest weight that the kernel knows and a quota of just what is to be stolen. The node is
pinned to the CPUs that they run on, so that it cannot move away from them; other processes can, and
those that do not are slowed too. What the node had, thread by thread, is in a record
(`/run/brownout-NODE.steal`), written first; a younger thread gets what the first one had. The hogs
end by their own timers, and a dead man's switch ends all of it before:

    /bin/sh -c … brownout-undo-steal n1-27017 cpu 120

Sources: cgroups(7); sched(7); taskset(1).
"""

from brownout.base.errors import ConfigurationError, Denied, HostError, Refused
from brownout.inventory.model import Node, ProcessSpec
from brownout.machine import control_groups, deadman, server_directory
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof, proof_of

__all__ = ["MARK", "SCRIPTS", "check_size", "left_on", "plan", "refusals", "steal", "undo_on"]
__all__ += ["why_not"]

MARK = "brownout-undo-steal"
#: What others may use of a machine before it counts as one that is used by others.
_OTHERS_CPUS = 0.3
#: Hogs that get less than this share of what they should have prove nothing.
_LEAST = 0.5

_RELEASE = """
family() {
  ours=" $* " more=yes
  while [ -n "$more" ]; do
    more=
    for each in /proc/[0-9]*/stat; do
      read -r stat 2>/dev/null < "$each" || continue
      pid=${each#/proc/}; pid=${pid%/stat}
      set -- ${stat##*) }
      case "$ours" in *" $pid "*) ;; *" $2 "*) ours="$ours$pid "; more=yes;; esac
    done
  done
}
born() {
  read -r stat 2>/dev/null < "/proc/$1/stat" || return 0
  set -- ${stat##*) }
  echo "${20}"
}
masks() {
  for pid in $*; do
    born=$(born "$pid")
    [ -n "$born" ] || continue
    for task in /proc/$pid/task/[0-9]*; do
      while read -r key value; do
        [ "$key" != Cpus_allowed_list: ] || echo "$pid $born ${task##*/} $value"
      done 2>/dev/null < "$task/status"
    done
  done
}
give_back() {
  pids= tids=" "
  while read -r pid born tid mask more; do
    case $pid in ""|*[!0-9]*) continue;; esac
    [ "$(born "$pid")" = "$born" ] || continue
    pids="$pids $pid" tids="$tids$tid "
    taskset -cp "$mask" "$tid" >/dev/null 2>&1
  done < "$1"
  record=$1 first=$2; shift 2
  family $pids "$@"
  for pid in $ours; do
    for task in /proc/$pid/task/[0-9]*; do
      tid=${task##*/}
      case $tids in *" $tid "*) ;; *) taskset -cp "$first" "$tid" >/dev/null 2>&1;; esac
    done
  done
  now=" $(masks $pids | tr "\\n" " ")"
  while read -r pid born tid mask more; do
    case $pid in ""|*[!0-9]*) continue;; esac
    [ "$(born "$pid")" = "$born" ] && [ -e "/proc/$pid/task/$tid" ] || continue
    case $now in *" $pid $born $tid $mask "*) ;; *) return 1;; esac
  done < "$record"
}
release() {
  record=/run/brownout-$1.steal; shift
  [ -e "$record" ] || return 0
  read -r place allowed < "$record"
  for try in 1 2 3 4 5 6 7 8 9 10; do
    for hog in $(cat "$place/cgroup.procs" 2>/dev/null); do kill -s KILL "$hog"; done 2>/dev/null
    [ -d "$place" ] || break
    rmdir "$place" 2>/dev/null && break
    sleep 0.05
  done
  [ ! -d "$place" ] || return 1
  give_back "$record" "$allowed" "$@" || give_back "$record" "$allowed" "$@" \\
    || [ ! -e "$record" ] || return 1
  rm -f "$record"
}
"""
_FUNCTIONS = (
    deadman.functions(MARK, f'sleep "$3"{_RELEASE}release "$1"')
    + _RELEASE
    + control_groups.functions("cpu")
    + r"""
each_of() { echo "$1" | tr , '\n' | awk -F- '{ for (i = $1; i <= $NF; i++) print i }'; }
show() {
  record=/run/brownout-$1.steal
  [ -e "$record" ] || return 0
  read -r place allowed < "$record"
  echo "place $place"
  echo "hogs $(grep -c . "$place/cgroup.procs" 2>/dev/null)"
  if [ -e "$place/cpu.max" ]; then echo "quota $(cat "$place/cpu.max")"
  elif [ -d "$place" ]; then
    echo "quota $(cat "$place/cpu.cfs_quota_us") $(cat "$place/cpu.cfs_period_us")"
  fi
}
ticks() {
  for pid in $*; do
    read -r stat 2>/dev/null < "/proc/$pid/stat" || continue
    set -- ${stat##*) }
    echo "$((${12} + ${13}))"
  done | awk '{ sum += $1 } END { print sum + 0 }'
}
waited_ms() {
  for pid in $*; do cat /proc/$pid/task/*/schedstat; done 2>/dev/null \
    | awk '{ sum += $2 } END { printf "%d\n", sum / 1000000 }'
}
used_ticks() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }
"""
)
#: `$1…` processes of the node.
_WHY_NOT = f"""{_FUNCTIONS}
command -v taskset >/dev/null || echo "missing taskset"
look || return 0
echo "cpus $(grep -c '^processor' /proc/cpuinfo)"
[ $# -gt 0 ] || return 0
family "$@"
all=$(used_ticks) own=$(ticks $ours)
sleep 0.3
all=$(($(used_ticks) - all)) own=$(($(ticks $ours) - own))
others=$(echo "$all $own $(getconf CLK_TCK)" | awk '{{ printf "%.2f", ($1 - $2) / $3 / 0.3 }}')
echo "others $others"
"""
#: `$1` node `$2` limit in s `$3` CPUs to steal `$4` on how many, then processes.
_STEAL = f"""{_FUNCTIONS}
node=$1 seconds=$2 cpus=$3 number=$4; shift 4
look || {{ echo "the control groups cannot be changed" >&2; return 1; }}
show "$node" | sed 's/^/was_/'
release "$node" || return 1
main=$1
[ -n "$(born "$main")" ] || {{ echo "state gone"; return 0; }}
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$main/status")
chosen=$(each_of "$allowed" | tail -n "$number" | tr '\\n' ' ')
[ "$(echo $chosen | wc -w)" = "$number" ] || {{ echo "allowed $allowed"; return 0; }}
place=$root/brownout-$node-steal
family "$@"
had=$(echo "$place $allowed"; masks $ours)
echo "$had" > "/run/brownout-$node.steal" || return 1
earlier=$(switches "$node" cpu)
arm "$node" cpu "$seconds" || {{ release "$node"; return 1; }}
disarm "$earlier"
echo "switch $switch"
quota=$(echo "$cpus" | awk '{{ printf "%d", $1 * 100000 }}')
begin() {{
  [ "$kind" = 1 ] || echo +cpu > "$root/cgroup.subtree_control" || return 1
  mkdir -p "$place" || return 1
  if [ "$kind" = 1 ]; then
    echo 262144 > "$place/cpu.shares" && echo 100000 > "$place/cpu.cfs_period_us" \\
      && echo "$quota" > "$place/cpu.cfs_quota_us" || return 1
  else
    echo 10000 > "$place/cpu.weight" && echo "$quota 100000" > "$place/cpu.max" || return 1
  fi
  for pid in $ours; do
    taskset -acp "$(echo $chosen | tr ' ' ,)" "$pid" >/dev/null 2>&1 || [ ! -e "/proc/$pid" ] \\
      || return 1
  done
  for cpu in $chosen; do
    setsid /bin/sh -c 'echo $$ > "$1/cgroup.procs" && exec taskset -c "$3" \\
      timeout -s KILL "$2" /bin/sh -c "while :; do :; done"' \\
      brownout-hog "$place" "$seconds" "$cpu" </dev/null >/dev/null 2>&1 &
  done
  for try in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(grep -c . "$place/cgroup.procs")" -lt "$((number * 2))" ] || break
    sleep 0.05
  done
}}
stamp began
stamp last_no
begin || {{ release "$node"; disarm "$switch"; return 1; }}
still_armed "$node" cpu || {{
  echo "$had" > "/run/brownout-$node.steal"; release "$node"; return 1; }}
stamp first_yes
hogs=$(cat "$place/cgroup.procs") before=$(ticks $hogs) waited=$(waited_ms $ours)
from=$(date +%s%N)
sleep 0.5
used=$(($(ticks $hogs) - before)) took=$(($(date +%s%N) - from))
got=$(echo "$used $took $(getconf CLK_TCK)" | awk '{{ printf "%.2f", $1 / $3 / $2 * 1e9 }}')
echo "got $got"
echo "waited $(($(waited_ms $ours) - waited))"
echo "on $(echo $chosen | tr ' ' ,)"
if echo "$got $cpus" | awk '{{ exit !($1 < $2 * {_LEAST}) }}'; then
  release "$node"; disarm "$switch"
fi
stamp ended
show "$node"
"""
#: `$1` node, then its processes, as far as they can be found now.
_RETURN = f"""{_FUNCTIONS}
stamp began
stamp last_no
show "$1" | sed 's/^/was_/'
release "$@" || {{ echo "our processes did not end, or it is still pinned" >&2; return 1; }}
stamp first_yes
stamp ended
show "$1"
disarm "$(switches "$1" cpu)"
"""
_SHOW = f'{_FUNCTIONS}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
_OURS = 'for each; do may_ours "$each" || return 1; done'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-steal": Program(_WHY_NOT, _OURS),
    "steal": Program(
        _STEAL,
        f'{_NODE} && may_numbers "$2" "$3" "$4" || return 1; shift 4; {_OURS}',
        act="cpu_steal",
        undone_by="cpu_return",
    ),
    "return-cpu": Program(_RETURN, f"{_NODE} || return 1; shift; {_OURS}", act="cpu_return"),
    "stolen": Program(_SHOW, _NODE),
}


def why_not(node: Node, host: Host) -> str:
    """Return why no CPU can be stolen from this node; empty if it can. Nothing is touched."""
    if node.host is not None and node.host.kind in ("docker", "kubernetes"):
        return (
            f"node `{node.name}`: the neighbour of a container is a process of its machine, which "
            "brownout does not start from here; use `throttle_node`"
        )
    shell = host.shell()
    return control_groups.problem(node, shell.runner.where, _look(host), "CPU")


def refusals(node: Node, host: Host, cpus: float, shared: bool) -> list[str]:
    """Return in words why it would hurt others: the guard.

    Of this machine, where brownout and its load run, it takes at most half. A machine that others
    use as well is refused unless it is `shared`.
    """
    reply = _look(host)
    there, others = reply.number("cpus") or 0, float(reply.get("others", "0"))
    here = isinstance(node.host, ProcessSpec)
    room = there / 2 if here else float(there)
    words = []
    if cpus > room:
        why = "half of this machine's, where brownout runs, too" if here else "all that there are"
        words.append(f"steal {cpus:g} CPUs: at most {room:g} may be stolen, {why}")
    if not here and not shared and others > _OTHERS_CPUS:
        words.append(
            f"other processes than the node's use {others:g} CPUs of its machine and would be "
            "slowed, too; allow that by `shared`"
        )
    return words


def steal(node: Node, host: Host, cpus: float, undo_after_s: float | None = None) -> Proof:
    """Take so many CPUs from the node; proven by what our processes get."""
    check_size(cpus)
    shell = host.shell()
    if shell.process is None:
        raise Denied(f"node `{node.name}` is not running, so it has no CPU", "start it")
    limit_s, number = undo_after_s or shell.undo_after_s, int(-(-cpus // 1))
    words = (node.key, f"{limit_s:g}", f"{cpus:g}", number)
    done = shell.runner.run(script(_STEAL, *words, *server_directory.pids_of(shell)))
    reply = answer(done, "stealing CPU", shell.runner.where)
    if reply.get("state") == "gone":
        raise HostError(f"node `{node.name}` ended before its CPU was stolen")
    if allowed := reply.get("allowed"):
        raise Refused(
            f"node `{node.name}` may use the CPUs {allowed} only, and {cpus:g} are to be stolen"
        )
    got = float(reply.get("got", "0"))
    if not reply.number("hogs"):
        raise HostError(
            f"node `{node.name}`: processes of ours got {got:g} CPUs, wanted {cpus:g}",
            "look at what else runs there with a real-time priority",
        )
    evidence = {
        "state": "stolen",
        "by": "processes of ours beside it",
        "cpus": cpus,
        "got_cpus": got,
        "on": reply.get("on"),
        "node_waited_ms": reply.number("waited"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, already=_cpus(reply, "was_quota") == cpus)


def undo_on(node: Node, host: Host) -> Proof:
    """Give the node its CPU back; safe to repeat."""
    shell = host.shell()
    runner = shell.runner
    done = runner.run(script(_RETURN, node.key, *server_directory.pids_of(shell)))
    reply = answer(done, "giving its CPU back", runner.where)
    if reply.get("place"):
        raise HostError(f"node `{node.name}` is still without {_in_words(reply)}")
    return proof_of(done, reply, {"state": "not stolen"}, already=not reply.get("was_place"))


def left_on(node: Node, host: Host) -> str:
    """Return what is stolen in words, as `0.9 CPUs by 2 processes`; empty for nothing."""
    if node.host is not None and node.host.kind in ("docker", "kubernetes"):
        return ""
    runner = host.shell().runner
    done = runner.run(script(_SHOW, node.key))
    reply = answer(done, "looking for what steals CPU", runner.where)
    return _in_words(reply) if reply.get("place") else ""


def plan(node: Node, host: Host, cpus: float | None) -> str:
    """Return for a plan what would take `cpus` CPUs, or that they are given back for None."""
    where = host.shell().runner.where
    if cpus is None:
        return f"{where}: end what steals its CPU, and let it use the CPUs that it could"
    return (
        f"{where}: pin it to {-(-cpus // 1):g} CPUs and take {cpus:g} of them by processes of ours "
        "with the highest weight; what else runs on these is slowed, too"
    )


def check_size(cpus: float) -> None:
    """Raise `ConfigurationError` if that is not a number of CPUs that can be stolen."""
    if not 0.05 <= cpus <= 1024:
        raise ConfigurationError(f"cpus: found {cpus:g}, wanted 0.05 to 1024")


def _look(host: Host) -> Answer:
    shell = host.shell()
    done = shell.runner.run(script(_WHY_NOT, *server_directory.pids_of(shell)))
    return answer(done, "looking at the CPUs of a machine", shell.runner.where)


def _in_words(reply: Answer) -> str:
    cpus = _cpus(reply, "quota")
    return f"{0 if cpus is None else cpus:g} CPUs by {reply.number('hogs') or 0} processes"


def _cpus(reply: Answer, name: str) -> float | None:
    quota, _, period = reply.get(name).partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None
