"""Limiting the CPU that a node gets, wherever its process runs.

    a systemd service      systemctl set-property --runtime UNIT CPUQuota=20%
    any other process      the quota of its control group (cgroup v1 and v2)
    a container, a pod     their own manager is asked: `docker.cpu`, `kubernetes.cpu`

A control group that other processes share is left alone: the node's processes then move to one of
our own, and back. What was before stands in a record on the node (`/run/brownout-NODE-PORT.cpu`),
which is written first; by it a later process can put it back. The node does so by itself after a
limit, by a dead man's switch (`deadman`):

    /bin/sh -c … brownout-undo-throttle n1-27017 cpu 120
                                        node         limit

Sources: cgroups(7); Linux, Documentation/scheduler/sched-bwc.rst; systemd.resource-control(5).
"""

from importlib import import_module
from typing import Any

from brownout.base.errors import ConfigurationError, Denied, HostError
from brownout.inventory.model import Node
from brownout.machine import deadman, server_directory
from brownout.machine.commands import Answer, Completed, Program, answer, script
from brownout.machine.host import Host, Proof, Shell
from brownout.machine.moments import bracket

__all__ = ["MARK", "SCRIPTS", "before", "check_size", "in_words", "left_on", "limit", "plan"]
__all__ += ["undo_on", "why_not"]

MARK = "brownout-undo-throttle"
#: The period of a quota in microseconds, the kernel's default.
PERIOD_US = 100_000
#: A limit that reads back this much off is the one that was asked for: the kernel rounds.
_ROUNDING = 0.02
#: What limits a node by its own manager, by the kind of its host.
_MANAGERS = {
    "docker": "brownout.machine.docker.cpu",
    "kubernetes": "brownout.machine.kubernetes.cpu",
}
_TOOLS = "awk sed setsid"
_PACKAGES = "mawk, sed, util-linux"

#: Without a single quote, since the switch has it too. Sets a quota; puts back what a record says.
_RELEASE = """
set_limit() {
  if [ "$kind" = 1 ]; then
    echo "$3" > "$1/cpu.cfs_period_us" && echo "$2" > "$1/cpu.cfs_quota_us"
  else
    echo "$2 $3" > "$1/cpu.max"
  fi
}
release() {
  record=/run/brownout-$1.cpu
  [ -e "$record" ] || return 0
  read -r how kind root place quota period group < "$record"
  case $how in
  unit)
    [ "$quota" != - ] || quota=
    systemctl set-property --runtime -- "$group" "CPUQuota=$quota" || return 1;;
  inside) [ ! -d "$place" ] || set_limit "$place" "$quota" "$period" || return 1;;
  moved)
    for try in 1 2 3 4 5 6 7 8 9 10; do
      for pid in $(cat "$place/cgroup.procs" 2>/dev/null); do
        echo "$pid" > "$root$group/cgroup.procs" || echo "$pid" > "$root/cgroup.procs"
      done 2>/dev/null
      [ -d "$place" ] || break
      rmdir "$place" 2>/dev/null && break
      sleep 0.05
    done
    [ ! -d "$place" ] || return 1;;
  esac
  rm -f "$record"
}
"""
_FUNCTIONS = (
    f"""\
{deadman.functions(MARK, f'sleep "$3"{_RELEASE}release "$1"')}
{_RELEASE}
"""
    + r"""
hierarchy() {
  kind=
  while read -r device place type options rest; do
    case $type in
    cgroup) case ",$options," in *,cpu,*) kind=1 root=$place; return 0;; esac;;
    cgroup2) grep -qw cpu "$place/cgroup.controllers" 2>/dev/null && kind=2 root=$place;;
    esac
  done < /proc/mounts
  [ -n "$kind" ]
}
group_of() {
  if [ "$kind" = 1 ]; then
    sed -n 's/^[0-9]*:\([^:]*,\)*cpu\(,[^:]*\)*:\(.*\)$/\3/p' "/proc/$1/cgroup"
  else
    sed -n 's/^0:://p' "/proc/$1/cgroup"
  fi
}
limit_in() {
  if [ "$kind" = 1 ]; then
    echo "$(cat "$1/cpu.cfs_quota_us") $(cat "$1/cpu.cfs_period_us")"
  else
    cat "$1/cpu.max"
  fi
}
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
only_ours() {
  for pid in $(cat "$1/cgroup.procs"); do
    case " $2 " in *" $pid "*) ;; *) return 1;; esac
  done
}
show() {
  record=/run/brownout-$1.cpu
  [ -e "$record" ] || return 0
  read -r how kind root place quota period group < "$record"
  echo "how $how"
  echo "kind $kind"
  echo "place $place"
  [ ! -d "$place" ] || echo "limit $(limit_in "$place")"
}
"""
)
#: `$1` the systemd unit, if there is one.
_WHY_NOT = f"""{_FUNCTIONS}
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
hierarchy || {{ echo "none yes"; return 0; }}
echo "kind $kind"
echo "place $root"
[ -w /run ] && [ -w "$root/cgroup.procs" ] || echo "denied $root"
"""
#: `$1` node `$2` quota in µs `$3` period in µs `$4` limit in s `$5` systemd unit, then processes.
_LIMIT = f"""{_FUNCTIONS}
name=$1 wanted=$2 length=$3 seconds=$4 unit=$5; shift 5
main=$1
hierarchy || {{ echo "no control groups with a CPU controller" >&2; return 1; }}
show "$name" | sed 's/^/was_/'
record=/run/brownout-$name.cpu
if [ ! -e "$record" ]; then
  group=$(group_of "$1")
  [ -n "$group" ] || {{ echo "state gone"; return 0; }}
  ours=$(tree "$@" | tr '\\n' ' ')
  place=$root${{group%/}}
  if [ -n "$unit" ]; then
    how=unit before=$(systemctl show --property=CPUQuotaPerSecUSec --value -- "$unit") group=$unit
    if [ "$before" = infinity ]; then quota=-; else
      set -- $(limit_in "$place"); quota=$(($1 * 100 / $2))%
    fi
    period=-
  elif [ "$group" != / ] && only_ours "$place" "$ours"; then
    how=inside; set -- $(limit_in "$place") ; quota=$1 period=$2
  else
    how=moved place=$root/brownout-$name quota=- period=-
  fi
  echo "$how $kind $root $place $quota $period $group" > "$record.new" || return 1
  mv "$record.new" "$record" || return 1
else
  ours=$(tree "$@" | tr '\\n' ' ')
  read -r how kind root place quota period group < "$record"
fi
earlier=$(switches "$name" cpu)
arm "$name" cpu "$seconds" || {{ release "$name"; return 1; }}
disarm "$earlier"
echo "switch $switch"
stamp began
stamp last_no
apply() {{
  case $how in
  unit)
    systemctl set-property --runtime -- "$group" "CPUQuota=$((wanted * 100 / length))%" || return 1
    place=$root$(group_of "$main")
    echo "$how $kind $root $place $quota $period $group" > "$record";;
  inside) set_limit "$place" "$wanted" "$length";;
  moved)
    [ "$kind" = 1 ] || echo +cpu > "$root/cgroup.subtree_control" || return 1
    mkdir -p "$place" && set_limit "$place" "$wanted" "$length" || return 1
    for try in 1 2 3 4 5; do
      left=
      for pid in $(tree $ours); do
        grep -qx "$pid" "$place/cgroup.procs" && continue
        echo "$pid" > "$place/cgroup.procs" 2>/dev/null || [ ! -e "/proc/$pid" ] || return 1
        left=$pid
      done
      [ -n "$left" ] || break
    done;;
  esac
}}
apply || {{ release "$name"; disarm "$switch"; return 1; }}
stamp first_yes
stamp ended
show "$name"
"""
#: `$1` node.
_RESTORE = f"""{_FUNCTIONS}
stamp began
stamp last_no
show "$1" | sed 's/^/was_/'
release "$1" || {{ echo "the CPU limit could not be taken away" >&2; return 1; }}
stamp first_yes
stamp ended
show "$1"
disarm "$(switches "$1" cpu)"
"""
_SHOW = f'{_FUNCTIONS}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-throttle": Program(_WHY_NOT, '[ "$1" = "$may_unit" ]'),
    "throttle": Program(
        _LIMIT,
        f'{_NODE} && may_numbers "$2" "$3" "$4" && [ "$5" = "$may_unit" ] || return 1; shift 5; '
        'for each; do may_ours "$each" || return 1; done',
        act="throttle",
        undone_by="unthrottle",
    ),
    "unthrottle": Program(_RESTORE, _NODE, act="unthrottle"),
    "throttled": Program(_SHOW, _NODE),
}


def why_not(node: Node, host: Host) -> str:
    """Return why the CPU of this node cannot be limited; empty if it can. Nothing is touched."""
    if (manager := _manager(node)) is not None:
        return str(manager.why_not(node, host))
    shell = host.shell()
    where = shell.runner.where
    reply = answer(
        shell.runner.run(script(_WHY_NOT, shell.unit)), "looking for what limits a CPU", where
    )
    if missing := reply.all("missing"):
        names = ", ".join(missing)
        return f"node `{node.name}`: {names} not found on {where} (Debian: {_PACKAGES})"
    if reply.get("none"):
        return f"node `{node.name}`: {where} has no control groups with a CPU controller"
    if place := reply.get("denied"):
        return (
            f"node `{node.name}`: the login on {where} may not change the control groups at "
            f"{place} (root may)"
        )
    return ""


def before(node: Node, host: Host) -> Any:
    """Return what `undo_on` has to know besides what the node itself records; None for nothing."""
    manager = _manager(node)
    return None if manager is None else manager.before(node, host)


def limit(node: Node, host: Host, cpus: float, undo_after_s: float | None = None) -> Proof:
    """Let the node have no more than `cpus` CPUs; proven by reading the limit back."""
    check_size(cpus)
    if (manager := _manager(node)) is not None:
        limited: Proof = manager.limit(node, host, cpus, undo_after_s)
        return limited
    shell = host.shell()
    if shell.process is None:
        raise Denied(f"node `{node.name}` is not limited: it is not running", "start it")
    limit_s = undo_after_s or shell.undo_after_s
    words = (_key(node), round(cpus * PERIOD_US), PERIOD_US, f"{limit_s:g}", shell.unit)
    done = shell.runner.run(script(_LIMIT, *words, *_processes(shell)))
    reply = answer(done, "limiting its CPU", shell.runner.where)
    if reply.get("state") == "gone":
        raise HostError(f"node `{node.name}` ended before its CPU was limited")
    there = _cpus(reply, "limit")
    if there is None or abs(there - cpus) > _ROUNDING * cpus:
        raise HostError(f"node `{node.name}`: found {there} CPUs, wanted {cpus:g}")
    was = _cpus(reply, "was_limit")
    evidence = {
        "state": "throttled",
        "by": _by(reply),
        "cpus": cpus,
        "group": reply.get("place"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return _proof(done, reply, evidence, was is not None and abs(was - cpus) <= _ROUNDING * cpus)


def undo_on(node: Node, host: Host, earlier: Any = None) -> Proof:
    """Let the node have the CPU that it had; safe to repeat. `earlier` is what `before` said."""
    if (manager := _manager(node)) is not None:
        restored: Proof = manager.undo_on(node, host, earlier)
        return restored
    runner = host.shell().runner
    done = runner.run(script(_RESTORE, _key(node)))
    reply = answer(done, "taking the CPU limit away", runner.where)
    if reply.get("how"):
        raise HostError(f"node `{node.name}` still has a CPU limit: {in_words(reply)}")
    return _proof(done, reply, {"state": "not throttled"}, not reply.get("was_how"))


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, as `0.2 CPUs by cgroup v2`; empty for none of ours."""
    if (manager := _manager(node)) is not None:
        return str(manager.left_on(node, host))
    runner = host.shell().runner
    done = runner.run(script(_SHOW, _key(node)))
    reply = answer(done, "looking at the CPU limit", runner.where)
    return in_words(reply) if reply.get("how") else ""


def plan(node: Node, host: Host, cpus: float | None) -> str:
    """Return for a plan what limits the node to `cpus` CPUs, or takes the limit away for None."""
    what = "take its CPU limit away" if cpus is None else f"limit it to {cpus:g} CPUs"
    if (manager := _manager(node)) is not None:
        return f"{what} by {manager.MEANS}"
    shell = host.shell()
    means = f"CPUQuota of `{shell.unit}`" if shell.unit else "its control group"
    return f"{shell.runner.where}: {what} by {means}"


def check_size(cpus: float) -> None:
    """Raise `ConfigurationError` if that is not a share of CPUs that the kernel can give."""
    if not 0.01 <= cpus <= 1024:
        raise ConfigurationError(f"cpus: found {cpus:g}, wanted 0.01 to 1024")


def in_words(reply: Answer) -> str:
    """Return a limit in words."""
    cpus = _cpus(reply, "limit")
    return f"{'no' if cpus is None else f'{cpus:g}'} CPUs by {_by(reply)}"


def _by(reply: Answer) -> str:
    return "systemd" if reply.get("how") == "unit" else f"cgroup v{reply.get('kind')}"


def _cpus(reply: Answer, name: str) -> float | None:
    quota, _, period = reply.get(name).partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _key(node: Node) -> str:
    """Return what a machine knows the node by: it may have nodes of one name, of other clusters."""
    return f"{node.name}-{node.address.rpartition(':')[2]}"


def _processes(shell: Shell) -> list[int]:
    own = [shell.process.pid] if shell.process else []
    if shell.server_directory is not None:
        own += server_directory.pids(shell.runner, shell.server_directory)
    return own


def _manager(node: Node) -> Any:
    """Return what limits a node of this kind of host by its manager; None where scripts do."""
    name = _MANAGERS.get(node.host.kind if node.host else "")
    return import_module(name) if name else None


def _proof(done: Completed, reply: Answer, evidence: dict[str, Any], already: bool) -> Proof:
    effective, uncertainty_s = bracket(done, reply)
    return Proof(effective, uncertainty_s, evidence, already=already)
