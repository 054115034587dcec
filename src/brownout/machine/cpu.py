"""Limiting the CPU that a node gets, wherever its process runs.

    a systemd service      systemctl set-property --runtime UNIT CPUQuota=20%
    any other process      the quota of its control group (`control_groups`)
    a container, a pod     their own manager is asked: `docker.cpu`, `kubernetes.cpu`

Sources: cgroups(7); Linux, Documentation/scheduler/sched-bwc.rst; systemd.resource-control(5).
"""

from importlib import import_module
from typing import Any

from brownout.base.errors import ConfigurationError, Denied, HostError
from brownout.inventory.model import Node
from brownout.machine import control_groups, server_directory
from brownout.machine.commands import Answer, Program, answer, script
from brownout.machine.host import Host, Proof, proof_of

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
_LIMIT = control_groups.Limit(
    "cpu",
    "cpu",
    MARK,
    """
by_unit() { true; }
always_moves() { false; }
never_moves=
set_limit() {
  if [ "$kind" = 1 ]; then
    echo "$3" > "$1/cpu.cfs_period_us" && echo "$2" > "$1/cpu.cfs_quota_us"
  else
    echo "$2 $3" > "$1/cpu.max"
  fi
}
held() {
  for what in nr_periods nr_throttled; do sed -n "s/^$what //p" "$1/cpu.stat"; done 2>/dev/null
}
limit_in() {
  if [ "$kind" = 1 ]; then
    echo $(cat "$1/cpu.cfs_quota_us" "$1/cpu.cfs_period_us") $(held "$1")
  else
    echo $(cat "$1/cpu.max") $(held "$1")
  fi
}
set_unit() {
  percent=
  [ "$2" = - ] || percent=$(($2 * 100 / $3))%
  systemctl set-property --runtime -- "$1" "CPUQuota=$percent"
}
limit_of_unit() {
  [ "$(systemctl show --property=CPUQuotaPerSecUSec --value -- "$1")" = infinity ] \\
    && echo - - $(held "$place") || limit_in "$place"
}
""",
)
_WHY_NOT = f"{_LIMIT.functions}\nlook || true\n"
#: `$1` node `$2` limit in s `$3` systemd unit `$4` quota and period in µs, then processes.
_THROTTLE = f'{_LIMIT.functions}\nlimit "$@" && stamp ended && show "$1"\n'
_RESTORE = f'{_LIMIT.functions}\nrestore "$1"\n'
_SHOW = f'{_LIMIT.functions}\nshow "$1"\n'
_NODE = '[ "$1" = "$may_node" ]'
#: What follows a quota and its period: cpu.stat's nr_periods and nr_throttled.
_COUNTED = ("periods", "periods_held_back")
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-throttle": Program(_WHY_NOT),
    "throttle": Program(
        _THROTTLE,
        f'{_NODE} && may_numbers "$2" "${{4% *}}" "${{4#* }}" && [ "$3" = "$may_unit" ] '
        "|| return 1; shift 4; "
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
    reply = answer(shell.runner.run(script(_WHY_NOT)), "looking for what limits a CPU", where)
    return control_groups.problem(node, where, reply, "CPU")


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
    quota = f"{round(cpus * PERIOD_US)} {PERIOD_US}"
    words = (node.key, f"{limit_s:g}", shell.unit, quota)
    done = shell.runner.run(script(_THROTTLE, *words, *server_directory.pids_of(shell)))
    reply = answer(done, "limiting its CPU", shell.runner.where)
    if reply.get("state") == "gone":
        raise HostError(f"node `{node.name}` ended before its CPU was limited")
    there = _cpus(reply, "limit")
    if there is None or abs(there - cpus) > _ROUNDING * cpus:
        raise HostError(f"node `{node.name}`: found {there} CPUs, wanted {cpus:g}")
    was = _cpus(reply, "was_limit")
    evidence = {
        "state": "throttled",
        "by": control_groups.means(reply),
        "cpus": cpus,
        "group": reply.get("place"),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, was is not None and abs(was - cpus) <= _ROUNDING * cpus)


def undo_on(node: Node, host: Host, earlier: Any = None) -> Proof:
    """Let the node have the CPU that it had; safe to repeat. `earlier` is what `before` said.

    The evidence says in how many periods of the quota (`PERIOD_US`) the node ran, and in how many
    of them the kernel held it back, where a control group counts that.
    """
    if (manager := _manager(node)) is not None:
        restored: Proof = manager.undo_on(node, host, earlier)
        return restored
    runner = host.shell().runner
    done = runner.run(script(_RESTORE, node.key))
    reply = answer(done, "taking the CPU limit away", runner.where)
    if reply.get("how"):
        raise HostError(f"node `{node.name}` still has a CPU limit: {in_words(reply)}")
    evidence = {"state": "not throttled", **_held_back(reply)}
    return proof_of(done, reply, evidence, not reply.get("was_how"))


def left_on(node: Node, host: Host) -> str:
    """Return the limit in words, as `0.2 CPUs by cgroup v2`; empty for none of ours."""
    if (manager := _manager(node)) is not None:
        return str(manager.left_on(node, host))
    runner = host.shell().runner
    done = runner.run(script(_SHOW, node.key))
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
    return f"{'no' if cpus is None else f'{cpus:g}'} CPUs by {control_groups.means(reply)}"


def _cpus(reply: Answer, name: str) -> float | None:
    quota, period = [*reply.get(name).split(), "", ""][:2]
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _held_back(reply: Answer) -> dict[str, int]:
    """Return what the kernel counted while the limit stood; nothing where it did not."""
    now, then = (reply.get(name).split()[2:] for name in ("was_limit", "was_before"))
    if len(now) < len(_COUNTED):
        return {}
    before = map(int, then or ["0"] * len(_COUNTED))
    return {k: int(n) - b for k, n, b in zip(_COUNTED, now, before, strict=False)}


def _manager(node: Node) -> Any:
    """Return what limits a node of this kind of host by its manager; None where scripts do."""
    name = _MANAGERS.get(node.host.kind if node.host else "")
    return import_module(name) if name else None
