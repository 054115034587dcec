"""The control groups of a node's processes: what limits them, by which files, and back.

A limit stands in the control group in which the node's processes are alone (cgroup v1 and v2), or
is a property of its systemd unit. A group that other processes share is left alone: the node's
processes then move to one of our own, and back. What was before stands in a record on the node
(`/run/brownout-NODE-PORT.cpu`), which is written first; by it a later process can put it back. The
node does so by itself after a limit, by a dead man's switch (`deadman`):

    /bin/sh -c … brownout-undo-throttle n1-27017 cpu 120
                                        node     what  limit

Sources: cgroups(7); Linux, Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst;
systemd.resource-control(5).
"""

import contextlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from brownout.base.errors import HostError
from brownout.base.wait import wait_until
from brownout.inventory.model import Node
from brownout.machine import deadman
from brownout.machine.commands import Answer
from brownout.machine.processes import TREE

__all__ = ["Limit", "functions", "means", "problem"]
__all__ += ["own", "remove", "why_not_here"]

_TOOLS = "awk sed setsid"
#: The kernel may count a process that has just ended for a moment.
_GONE_S = 5.0
_PACKAGES = "mawk, sed, util-linux"

#: Puts back what a record says.
_RELEASE = """
release() {
  record=/run/brownout-$1.%(name)s
  [ -e "$record" ] || return 0
  read -r how kind root place group values < "$record"
  case $how in
  unit) set_unit "$group" $values || return 1;;
  inside) [ ! -d "$place" ] || set_limit "$place" $values || return 1;;
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
_COMMON = r"""
hierarchy() {
  kind=
  while read -r device place type options rest; do
    case $type in
    cgroup) case ",$options," in *,%(controller_v1)s,*) kind=1 root=$place; return 0;; esac;;
    cgroup2) grep -qw %(controller)s "$place/cgroup.controllers" 2>/dev/null && kind=2 root=$place;;
    esac
  done < /proc/mounts
  [ -n "$kind" ]
}
group_of() {
  if [ "$kind" = 1 ]; then
    sed -n 's/^[0-9]*:\([^:]*,\)*%(controller_v1)s\(,[^:]*\)*:\(.*\)$/\3/p' "/proc/$1/cgroup"
  else
    sed -n 's/^0:://p' "/proc/$1/cgroup"
  fi
}
look() {
  for tool in %(tools)s; do command -v $tool >/dev/null || echo "missing $tool"; done
  hierarchy || { echo "none yes"; return 1; }
  [ -w /run ] && [ -w "$root/cgroup.procs" ] || { echo "denied $root"; return 1; }
}
"""
_REST = r"""
own_place() {
  group=$(group_of "$1") place=
  [ -n "$group" ] && [ "$group" != / ] || return 1
  ours=" $(tree "$@" | tr '\n' ' ')"
  for pid in $(cat "$root${group%%/}/cgroup.procs"); do
    case $ours in *" $pid "*) ;; *) return 1;; esac
  done
  [ "$kind" = 1 ] || has_files "$root${group%%/}" || return 1
  place=$root${group%%/}
}
has_files() {
  grep -qw %(controller)s "$1/cgroup.controllers" \
    || echo +%(controller)s > "${1%%/*}/cgroup.subtree_control" || return 1
  grep -qw %(controller)s "$1/cgroup.controllers"
} 2>/dev/null
show() {
  record=/run/brownout-$1.%(name)s
  [ -e "$record" ] || return 0
  read -r how kind root place group values < "$record"
  echo "how $how"
  echo "kind $kind"
  echo "place $place"
  echo "before $values"
  [ ! -d "$place" ] || echo "limit $(limit_in "$place")"
}
enter_place() {
  for try in 1 2 3 4 5; do
    left=
    for pid in $(tree $ours); do
      grep -qx "$pid" "$place/cgroup.procs" && continue
      echo "$pid" > "$place/cgroup.procs" 2>/dev/null || [ ! -e "/proc/$pid" ] || return 1
      left=$pid
    done
    [ -n "$left" ] || break
  done
}
apply() {
  case $how in
  unit)
    set_unit "$group" $1 || return 1
    place=$root$(group_of "$main")
    echo "$how $kind $root $place $group $values" > "$record";;
  inside) set_limit "$place" $1;;
  moved)
    [ "$kind" = 1 ] || echo +%(controller)s > "$root/cgroup.subtree_control" || return 1
    mkdir -p "$place" && set_limit "$place" $1 && enter_place;;
  esac
}
limit() {
  name=$1 seconds=$2 unit=$3 wanted=$4; shift 4
  main=$1
  hierarchy || { echo "no control groups with a %(controller)s controller" >&2; return 1; }
  show "$name" | sed 's/^/was_/'
  record=/run/brownout-$name.%(name)s
  if [ ! -e "$record" ]; then
    group=$(group_of "$main")
    [ -n "$group" ] || { echo "state gone"; return 0; }
    ours=$(tree "$@" | tr '\n' ' ')
    if [ -n "$unit" ] && by_unit; then
      how=unit place=$root${group%%/} group=$unit values=$(limit_of_unit "$unit")
    elif ! always_moves && own_place "$@"; then
      how=inside values=$(limit_in "$place")
    else
      [ -z "$never_moves" ] || { echo "state shared"; return 0; }
      how=moved place=$root/brownout-$name-%(name)s values=-
    fi
    echo "$how $kind $root $place $group $values" > "$record.new" || return 1
    mv "$record.new" "$record" || return 1
  else
    ours=$(tree "$@" | tr '\n' ' ')
    read -r how kind root place group values < "$record"
  fi
  earlier=$(switches "$name" %(name)s)
  arm "$name" %(name)s "$seconds" || { release "$name"; return 1; }
  disarm "$earlier"
  echo "switch $switch"
  stamp began
  stamp last_no
  apply "$wanted" || { release "$name"; disarm "$switch"; return 1; }
  still_armed "$name" %(name)s || {
    echo "$how $kind $root $place $group $values" > "$record"
    release "$name"
    return 1
  }
  stamp first_yes
}
restore() {
  stamp began
  stamp last_no
  show "$1" | sed 's/^/was_/'
  release "$1" || { echo "the limit could not be taken away" >&2; return 1; }
  stamp first_yes
  stamp ended
  show "$1"
  disarm "$(switches "$1" %(name)s)"
}
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """One kind of limit, by a `controller` of the kernel (in cgroup v1 `controller_v1`).

    `name` is that of its record and of its switch, which is called `mark`. `hooks` are shell
    functions without a single quote:

        set_limit PLACE VALUES…    write the files of a group; `$kind` is 1 or 2
        limit_in PLACE             print the values that they hold
        set_unit UNIT VALUES…      set the property of a systemd unit
        limit_of_unit UNIT         print the values that put that back
        by_unit, always_moves      whether `$kind` is limited by its unit, and moves in any case

    and `never_moves`, a variable that is not empty where a group of our own is of no use. What is
    to be set is in `$wanted` meanwhile. The functions that it makes are `look`, `limit NODE SECONDS
    UNIT VALUES PROCESS…`, `restore NODE` and `show NODE`.
    """

    name: str
    controller: str
    mark: str
    hooks: str
    controller_v1: str = ""

    @property
    def functions(self) -> str:
        """The shell functions of every script."""
        words = {"name": self.name, "controller": self.controller}
        release = f"{self.hooks}{_RELEASE % words}"
        switch = deadman.functions(self.mark, f'sleep "$3"{release}release "$1"')
        common = functions(self.controller, self.controller_v1)
        return f"{switch}\n{release}{common}{_REST % words}"


def functions(controller: str, controller_v1: str = "") -> str:
    """Return shell functions that find the groups of `controller`.

    `look` prints what `problem` reads and sets `$kind` and `$root`; `group_of PROCESS` prints the
    group of a process, and `tree PROCESS…` all processes below them, with them.
    """
    names = {"controller": controller, "controller_v1": controller_v1 or controller}
    return TREE + _COMMON % {**names, "tools": _TOOLS}


def problem(node: Node, where: str, reply: Answer, controller: str) -> str:
    """Return in words what `look` found missing on a node's machine; empty for nothing."""
    if missing := reply.all("missing"):
        return (
            f"node `{node.name}`: {', '.join(missing)} not found on {where} (Debian: {_PACKAGES})"
        )
    if reply.get("none"):
        return f"node `{node.name}`: {where} has no control groups with a {controller} controller"
    if place := reply.get("denied"):
        return (
            f"node `{node.name}`: the login on {where} may not change the control groups at "
            f"{place} (root may)"
        )
    return ""


def means(reply: Answer) -> str:
    """Return by what a limit was set, as `systemd` or `cgroup v2`."""
    return "systemd" if reply.get("how") == "unit" else f"cgroup v{reply.get('kind')}"


def why_not_here() -> str:
    """Return why a process of this machine cannot have a group for memory; empty if it can."""
    root = _root()
    if root is None:
        return "this machine has no control groups with a memory controller"
    return "" if os.access(root / "cgroup.procs", os.W_OK) else f"{root} is not ours to change"


def own(name: str) -> Path | None:
    """Return the group for memory called `name`, made where it is missing; None for no name.

    Raises `HostError` where it cannot be made.
    """
    if not name:
        return None
    root = _root()
    if root is None:
        raise HostError(f"no control group `{name}`: {why_not_here()}")
    try:
        if root.joinpath("cgroup.subtree_control").exists():
            root.joinpath("cgroup.subtree_control").write_text("+memory", encoding="ascii")
        root.joinpath(name).mkdir(exist_ok=True)
    except OSError as error:
        raise HostError(f"the control group `{root / name}` cannot be made: {error}") from error
    return root / name


def remove(prefix: str) -> None:
    """Remove the groups for memory whose names begin with `prefix`, whose processes are gone."""
    root = _root()
    for place in root.glob(f"{prefix}*") if root is not None else ():
        try:
            wait_until(partial(_removed, place), _GONE_S, despite=OSError)
        except OSError as error:
            raise HostError(f"the control group `{place}` is still there: {error}") from error


def _removed(place: Path) -> bool:
    place.rmdir()
    return True


def _root() -> Path | None:
    """Return where this machine has its groups for memory; None where it has none."""
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, path, kind, options, *_ = line.split()
        root = Path(path)
        if kind == "cgroup" and "memory" in options.split(","):
            return root
        if kind == "cgroup2":
            with contextlib.suppress(OSError):
                controllers = root.joinpath("cgroup.controllers").read_text(encoding="ascii")
                if "memory" in controllers.split():
                    return root
    return None
