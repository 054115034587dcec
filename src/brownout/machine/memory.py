"""Squeezing the memory of a node, and having the kernel kill it as out of memory.

    a systemd service      MemoryHigh= (cgroup v2); on v1 the files of its control group
    any other process      its own control group: v2 memory.high; v1 memory.limit_in_bytes, without
                           the kernel's kill (memory.oom_control)
    a container            its engine is asked: `docker.memory`

A squeezed node is not killed: what it may not have is taken from its page cache, is swapped out
where there is swap, and else it waits for it. The kernel counts memory in the group in which it was
first used, so the memory of a group that other processes share cannot be told apart, and moving
the node would limit only what it takes from then on. Such a node is refused.

`kill` sets the limit below what the node needs (v2 memory.max; v1 a group of our own, which costs
less than what it has) and has a process of ours in the same group ask for more than there is. The
kernel looks for the largest process of the group and kills it, again until the node is gone; the
group's own count of such kills proves it. Then the limit is taken away.

Sources: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst;
systemd.resource-control(5).
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from brownout.base.errors import ConfigurationError, Denied, HostError, Refused
from brownout.inventory.model import Node
from brownout.machine import control_groups, server_directory
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof, Shell, proof_of

__all__ = ["KILL_MARK", "MARK", "SCRIPTS", "before", "check_size", "kill", "left_on", "plan"]
__all__ += ["plan_of_kill", "squeeze", "undo_on", "why_no_kill", "why_not"]

MARK = "brownout-undo-squeeze"
KILL_MARK = "brownout-undo-oom"
_MIB = 2**20
#: The kernel counts pages.
_ROUNDING = 2**16
#: A limit of this size or more means no limit: v1 says 2^63 less a page.
_NONE = 2**60
#: So long the kernel may take to kill a node, and its switch waits.
_KILL_S, _SWITCH_S = 20, 60
#: What limits a node by its own manager, by the kind of its host.
_MANAGERS = {"docker": "brownout.machine.docker.memory"}

_SQUEEZE = control_groups.Limit(
    "memory",
    "memory",
    MARK,
    """
by_unit() { [ "$kind" = 2 ]; }
always_moves() { false; }
never_moves=yes
set_limit() {
  if [ "$kind" = 1 ]; then
    [ "$3" = 0 ] || echo 1 > "$1/memory.oom_control" || return 1
    echo "$2" > "$1/memory.limit_in_bytes" || return 1
    [ "$3" = 1 ] || echo 0 > "$1/memory.oom_control"
  else
    echo "$2" > "$1/memory.high"
  fi
}
reached() {
  if [ "$kind" = 1 ]; then cat "$1/memory.failcnt"
  else sed -n "s/^high //p" "$1/memory.events"; fi 2>/dev/null
}
limit_in() {
  if [ "$kind" = 1 ]; then
    read -r word held < "$1/memory.oom_control"
    echo "$(cat "$1/memory.limit_in_bytes") $held $(reached "$1")"
  else
    echo "$(cat "$1/memory.high") $(reached "$1")"
  fi
}
set_unit() {
  bytes=$2
  [ "$bytes" != max ] || bytes=infinity
  systemctl set-property --runtime -- "$1" "MemoryHigh=$bytes"
}
limit_of_unit() {
  echo "$(systemctl show --property=MemoryHigh --value -- "$1") $(reached "$place")"
}
""",
)
_OOM = control_groups.Limit(
    "oom",
    "memory",
    KILL_MARK,
    """
by_unit() { [ "$kind" = 2 ]; }
always_moves() { [ "$kind" = 1 ]; }
never_moves=
set_limit() {
  if [ "$kind" = 1 ]; then
    echo "$2" > "$1/memory.limit_in_bytes" || return 1
    [ ! -e "$1/memory.memsw.limit_in_bytes" ] || echo "$2" > "$1/memory.memsw.limit_in_bytes"
  else
    [ "$3" = - ] || echo "$3" > "$1/memory.swap.max" || return 1
    echo "$2" > "$1/memory.max"
  fi
}
limit_in() {
  if [ "$kind" = 1 ]; then
    echo "$(cat "$1/memory.limit_in_bytes") -"
  else
    echo "$(cat "$1/memory.max") $(cat "$1/memory.swap.max" 2>/dev/null || echo -)"
  fi
}
set_unit() {
  systemctl set-property --runtime -- "$1" "MemoryMax=$2" "MemorySwapMax=$3"
}
value_of() { systemctl show "--property=$2" --value -- "$1"; }
limit_of_unit() { echo "$(value_of "$1" MemoryMax) $(value_of "$1" MemorySwapMax)"; }
""",
)
#: `$1` the systemd unit, then processes, if there are any.
_WHY_NOT = f"""{_SQUEEZE.functions}
unit=$1; shift
look && [ $# -gt 0 ] || return 0
if [ -n "$unit" ] && by_unit; then place=$root$(group_of "$1"); else own_place "$@"; fi
[ -n "$place" ] || {{ echo "shared $group"; return 0; }}
echo "kind $kind"
echo "swap $(sed -n 's/^SwapTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)"
if [ "$kind" = 1 ]; then
  echo "used $(cat "$place/memory.usage_in_bytes")"
  echo "anonymous $(sed -n 's/^total_rss //p' "$place/memory.stat")"
else
  echo "used $(cat "$place/memory.current")"
  echo "anonymous $(sed -n 's/^anon //p' "$place/memory.stat")"
fi
"""
#: `$1` node `$2` limit in s `$3` systemd unit `$4` bytes, on v1 then 1, then processes.
_LIMIT = f'{_SQUEEZE.functions}\nlimit "$@" && stamp ended && show "$1"\n'
_RESTORE = f'{_SQUEEZE.functions}\nrestore "$1"\n'
_SHOW = f'{_SQUEEZE.functions}\nshow "$1"\n'
#: `$1` node `$2` its switch's limit in s `$3` systemd unit `$4` bytes and 0 of swap `$5` seconds to
#: wait for the kill, then processes.
_KILL = f"""{_OOM.functions}
count() {{
  if [ "$kind" = 1 ]; then sed -n 's/^oom_kill //p' "$1/memory.oom_control"
  else sed -n 's/^oom_kill //p' "$1/memory.events"; fi 2>/dev/null
}}
start_of() {{
  read -r stat 2>/dev/null < "/proc/$1/stat" || return 0
  set -- ${{stat##*) }}
  case $1 in Z|X) ;; *) echo "${{20}}";; esac
}}
ask() {{
  ! grep -qs . "/proc/$asking/cmdline" || return 0
  /bin/sh -c 'echo $$ > "$1/cgroup.procs" && exec dd if=/dev/zero of=/dev/null bs=64M count=1' \\
    sh "$place" >/dev/null 2>&1 &
  asking=$!
}}
others() {{ grep -vx "$asking" "$place/cgroup.procs" 2>/dev/null; }}
node=$1 seconds=$2 unit=$3 wanted=$4 within=$5; shift 5
look || {{ echo "the control groups cannot be changed" >&2; return 1; }}
born=$(start_of "$1") main=$1 asking=0 before=0
[ -n "$born" ] || {{ echo "state gone"; return 0; }}
if [ "$kind" = 2 ]; then
  place=$root$(group_of "$1")
  [ -z "$unit" ] && ! own_place "$@" || before=$(count "$place")
fi
began=$(date +%s%N)
limit "$node" "$seconds" "$unit" "$wanted" "$@" || return 1
last=$(date +%s%N) end=$(($(date +%s) + within))
stamp began
while [ "$(start_of "$main")" = "$born" ] && [ "$(date +%s)" -lt "$end" ]; do
  last=$(date +%s%N)
  [ "$(start_of "$main")" = "$born" ] || break
  ask
  sleep 0.02
done
stamp first_yes
[ "$last" -gt "$began" ] && echo "stamp_last_no $last"
while [ -n "$(others)" ] && [ "$(date +%s)" -lt "$end" ]; do ask; sleep 0.02; done
killed=$(count "$place")
[ -z "$unit" ] || echo "result $(systemctl show --property=Result --value -- "$unit")"
! grep -qs . "/proc/$asking/cmdline" || kill -s KILL "$asking"
release "$node" || {{ echo "the limit could not be taken away" >&2; return 1; }}
disarm "$switch"
echo "how $how"
echo "kind $kind"
echo "kills $((${{killed:-0}} - before))"
[ "$(start_of "$main")" != "$born" ] || echo "state alive"
stamp ended
"""
_OOM_RESTORE = f'{_OOM.functions}\nrestore "$1"\n'
_OOM_SHOW = f'{_OOM.functions}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
_OURS = 'for each; do may_ours "$each" || return 1; done'
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-squeeze": Program(_WHY_NOT, f'[ "$1" = "$may_unit" ] || return 1; shift; {_OURS}'),
    "squeeze": Program(
        _LIMIT,
        f'{_NODE} && may_numbers "$2" "${{4% *}}" "${{4#* }}" && [ "$3" = "$may_unit" ] '
        f"|| return 1; shift 4; {_OURS}",
        act="memory_squeeze",
        undone_by="memory_release",
    ),
    "unsqueeze": Program(_RESTORE, _NODE, act="memory_release"),
    "squeezed": Program(_SHOW, _NODE),
    "oom-kill": Program(
        _KILL,
        f'{_NODE} && may_numbers "$2" "${{4% *}}" "${{4#* }}" "$5" && [ "$3" = "$may_unit" ] '
        f"|| return 1; shift 5; {_OURS}",
        act="oom_kill",
        undone_by="start",
    ),
    "oom-release": Program(_OOM_RESTORE, _NODE, act="memory_release"),
    "oom-limited": Program(_OOM_SHOW, _NODE),
}


@dataclass(frozen=True, slots=True)
class _Use:
    """What the group of a node's processes uses, in bytes; `version` is that of its control group.

    `anonymous` is what no file holds, which can only be swapped out.
    """

    version: int
    used: int
    anonymous: int
    swap: bool


def why_not(node: Node, host: Host) -> str:
    """Return why its memory cannot be squeezed; empty if it can. Nothing is touched."""
    if (manager := _manager(node)) is not None:
        return str(manager.why_not(node, host))
    if _kind(node) == "kubernetes":
        return f"node `{node.name}`: limiting the memory of a pod is not built yet"
    shell = host.shell()
    reply = _look(shell)
    if words := control_groups.problem(node, shell.runner.where, reply, "memory"):
        return words
    if group := reply.get("shared"):
        return (
            f"node `{node.name}`: its memory is counted in the control group `{group}` of "
            f"{shell.runner.where} with that of other processes, and moving it would limit only "
            "what it takes from then on; start it in a control group of its own (as a systemd "
            "service, a container, or `host.control_group`)"
        )
    return ""


def why_no_kill(node: Node, host: Host) -> str:
    """Return why the kernel cannot be made to kill this node; empty if it can."""
    if _kind(node) in ("docker", "kubernetes"):
        return (
            f"node `{node.name}`: the kernel's kill of a container is not built; use `kill_node`, "
            "or a node that is a process or a service"
        )
    shell = host.shell()
    return control_groups.problem(node, shell.runner.where, _look(shell), "memory")


def before(node: Node, host: Host) -> Any:
    """Return what `undo_on` has to know besides what the node itself records; None for nothing."""
    manager = _manager(node)
    return None if manager is None else manager.before(node, host)


def squeeze(
    node: Node, host: Host, mib: float, share: float, undo_after_s: float | None = None
) -> Proof:
    """Let the node have no more than `mib` MiB, or a `share` of what it uses now where that is 0.

    Proven by reading the limit back.
    """
    check_size(mib, share)
    if (manager := _manager(node)) is not None:
        squeezed: Proof = manager.squeeze(node, host, mib, share, undo_after_s)
        return squeezed
    shell = host.shell()
    if shell.process is None:
        raise Denied(f"node `{node.name}` is not squeezed: it is not running", "start it")
    use = _use(node, shell)
    wanted = int(mib * _MIB or share * use.used)
    if use.version == 1 and not use.swap and wanted < use.anonymous:
        raise Refused(
            f"node `{node.name}` is not squeezed to {_in_mib(wanted)}: {_in_mib(use.anonymous)} of "
            f"its {_in_mib(use.used)} are anonymous, there is no swap, and cgroup v1 sets no "
            "limit below what the kernel cannot reclaim",
            f"give more than {_in_mib(use.anonymous)}",
        )
    limit_s = undo_after_s or shell.undo_after_s
    values = f"{wanted} 1" if use.version == 1 else str(wanted)
    words = (node.key, f"{limit_s:g}", shell.unit, values)
    done = shell.runner.run(script(_LIMIT, *words, *server_directory.pids_of(shell)))
    reply = answer(done, "squeezing its memory", shell.runner.where)
    if state := reply.get("state"):
        raise HostError(f"node `{node.name}` is not squeezed: its control group is {state}")
    there, was = _bytes(reply, "limit"), _bytes(reply, "was_limit")
    if there is None or abs(there - wanted) > _ROUNDING:
        raise HostError(f"node `{node.name}`: found {there} bytes, wanted {wanted}")
    evidence = {
        "state": "squeezed",
        "by": control_groups.means(reply),
        "mib": round(there / _MIB, 1),
        "used_mib": round(use.used / _MIB, 1),
        "anonymous_mib": round(use.anonymous / _MIB, 1),
        "swap": use.swap,
        "property": _PROPERTIES[use.version],
        "group": reply.get("place"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, was is not None and abs(was - wanted) <= _ROUNDING)


#: What a limit means, for the evidence.
_PROPERTIES = {
    1: "memory.limit_in_bytes: what it may not have is reclaimed, and else it waits; never killed",
    2: "memory.high: what it may not have is reclaimed, and it is slowed down; never killed",
}


def kill(node: Node, host: Host) -> Proof:
    """Have the kernel kill the node as out of memory; proven by the kernel's own count."""
    shell = host.shell()
    if shell.process is None:
        raise Denied(f"node `{node.name}` is not killed: it is not running", "start it")
    words = (node.key, _SWITCH_S, shell.unit, f"{_MIB} 0", _KILL_S)
    text = script(_KILL, *words, *server_directory.pids_of(shell))
    done = shell.runner.run(text, timeout_s=2 * _KILL_S)
    reply = answer(done, "having it killed as out of memory", shell.runner.where)
    kills, result = reply.number("kills") or 0, reply.get("result")
    if reply.get("state") or not (kills or result == "oom-kill"):
        state = {"alive": f"still runs after {_KILL_S} s"}.get(reply.get("state"), "is gone")
        raise HostError(
            f"node `{node.name}` {state}, and the kernel counts {kills} kills as out of memory; "
            "its limit is taken away",
            "look at its oom_score_adj: -1000 is never killed",
        )
    evidence = {
        "state": "gone",
        "pid": shell.process.pid,
        "by": control_groups.means(reply),
        "oom_kills": kills,
        **({"result": result} if result else {}),
    }
    return proof_of(done, reply, evidence, already=False)


def undo_on(node: Node, host: Host, earlier: Any = None) -> Proof:
    """Let the node have the memory that it had; safe to repeat. `earlier` is what `before` said.

    The evidence says how often the node met its limit, where a control group counts that.
    """
    if (manager := _manager(node)) is not None:
        restored: Proof = manager.undo_on(node, host, earlier)
        return restored
    runner, name = host.shell().runner, node.key
    what = "taking the memory limit away"
    rest = answer(runner.run(script(_OOM_RESTORE, name)), what, runner.where)
    done = runner.run(script(_RESTORE, name))
    reply = answer(done, what, runner.where)
    for each in (reply, rest):
        if each.get("how"):
            raise HostError(f"node `{node.name}` still has a limit: {_in_words(each)}")
    already = not (reply.get("was_how") or rest.get("was_how"))
    return proof_of(done, reply, {"state": "not squeezed", **_reached(reply)}, already)


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, as `64 MiB by cgroup v2`; empty for none of ours."""
    if (manager := _manager(node)) is not None:
        return str(manager.left_on(node, host))
    if _kind(node) == "kubernetes":
        return ""
    runner, name = host.shell().runner, node.key
    for text in (_SHOW, _OOM_SHOW):
        reply = answer(runner.run(script(text, name)), "looking at the memory limit", runner.where)
        if reply.get("how"):
            return _in_words(reply)
    return ""


def plan(node: Node, host: Host, mib: float, share: float) -> str:
    """Return for a plan what squeezes the node, or takes the limit away for 0 and 0."""
    wanted = f"{mib:g} MiB" if mib else f"{share:.0%} of what it uses"
    what = f"limit it to {wanted}" if mib or share else "take its memory limit away"
    if (manager := _manager(node)) is not None:
        return f"{what} by {manager.MEANS}"
    shell = host.shell()
    means = f"MemoryHigh of `{shell.unit}`" if shell.unit else "its control group"
    return f"{shell.runner.where}: {what} by {means}"


def plan_of_kill(node: Node, host: Host) -> str:
    """Return for a plan how the kernel is made to kill the node."""
    shell = host.shell()
    means = f"MemoryMax of `{shell.unit}`" if shell.unit else "a control group"
    return (
        f"{shell.runner.where}: limit its memory to 1 MiB by {means} until the kernel has killed "
        f"it, at most {_KILL_S} s"
    )


def check_size(mib: float, share: float) -> None:
    """Raise `ConfigurationError` if that is not a size of memory."""
    if mib < 0 or (0 < mib < 1):
        raise ConfigurationError(f"mib: found {mib:g}, wanted 1 or more, or 0 for a share")
    if not mib and not 0.01 <= share <= 10:
        raise ConfigurationError(f"share: found {share:g}, wanted 0.01 to 10")


def _look(shell: Shell) -> Answer:
    words = (shell.unit, *server_directory.pids_of(shell))
    done = shell.runner.run(script(_WHY_NOT, *words))
    return answer(done, "looking at the memory of a node", shell.runner.where)


def _use(node: Node, shell: Shell) -> _Use:
    reply = _look(shell)
    used = reply.number("used")
    if used is None:
        raise HostError(f"node `{node.name}`: its control group does not say what it uses")
    anonymous, swap = reply.number("anonymous") or 0, reply.number("swap") or 0
    return _Use(reply.number("kind") or 0, used, anonymous, swap > 0)


def _in_words(reply: Answer) -> str:
    there = _bytes(reply, "limit")
    return f"{'no limit' if there is None else _in_mib(there)} by {control_groups.means(reply)}"


def _in_mib(size: int) -> str:
    return f"{size / _MIB:.1f} MiB"


def _bytes(reply: Answer, name: str) -> int | None:
    size, _, _ = reply.get(name).partition(" ")
    return int(size) if size.isdigit() and int(size) < _NONE else None


def _kind(node: Node) -> str:
    return node.host.kind if node.host else ""


def _reached(reply: Answer) -> dict[str, int]:
    """Return how often the limit was met, by memory.failcnt or memory.events."""
    now, then = (reply.get(name).split() for name in ("was_limit", "was_before"))
    words = {"1": 3, "2": 2}.get(reply.get("was_kind"))
    if not len(now) == len(then) == words:
        return {}
    return {"limit_reached": int(now[-1]) - int(then[-1])}


def _manager(node: Node) -> Any:
    """Return what limits a node of this kind of host by its manager; None where scripts do."""
    name = _MANAGERS.get(_kind(node))
    return import_module(name) if name else None
