"""Slowing all that a node sends, by the kernel's netem in its own network namespace.

`tc qdisc … netem delay` (tc-netem(8)) holds back every packet that leaves the namespace, be it an
answer or a question of the node's own. Small kernels lack it, and only trying tells: in a
namespace made for that and gone with the shell that tried.
"""

import re
import shutil

from brownout.base.errors import HostError
from brownout.machine import network
from brownout.machine.commands import Completed, LocalRunner, answer, script

__all__ = ["INTERFACE", "clear", "latency", "slow", "why_not"]

#: The one that a lab's network gives each node.
INTERFACE = "eth0"

_TRY = "unshare --net tc qdisc add dev lo root netem delay 1ms"
_SHOW = f"""\
show() {{ tc -n "$1" qdisc show dev {INTERFACE} | while read -r line; do
  echo "qdisc $line"; done; }}
"""
_SLOW = f"""{_SHOW}
tc -n "$1" qdisc replace dev {INTERFACE} root netem delay "$2ms" "$3ms" || return 1
show "$1"
"""
_CLEAR = f"""{_SHOW}
case $(show "$1") in *netem*) tc -n "$1" qdisc del dev {INTERFACE} root || return 1;; esac
show "$1"
"""
#: `… netem 8001: root refcnt 2 limit 1000 delay 50ms  5ms`, or `… delay 1.5s`.
_DELAY = re.compile(r"netem .*?delay ([\d.]+)(us|ms|s)(?: +([\d.]+)(us|ms|s))?")
_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


def why_not() -> str:
    """Return why this machine cannot slow a node's packets; empty if it can.

    It tries: in a network namespace that nothing is in and that ends with the try.
    """
    if reason := network.why_not():
        return reason
    missing = [tool for tool in ("tc", "unshare") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on PATH (Debian: iproute2, util-linux)"
    tried = LocalRunner().run(script(_TRY))
    if tried.status:
        said = tried.errors.strip().splitlines() or ["it did not say why"]
        return f"this kernel has no netem (`tc qdisc … netem`: {said[-1]})"
    return ""


def slow(namespace: str, latency_ms: int, jitter_ms: int) -> Completed:
    """Hold back what leaves `namespace` for `latency_ms`, plus or minus `jitter_ms`; read back."""
    done = LocalRunner().run(script(_SLOW, namespace, latency_ms, jitter_ms))
    found, wanted = _read(done), {"latency": latency_ms, "jitter": jitter_ms}
    if found != wanted:
        raise HostError(f"namespace `{namespace}`: found {found}, wanted {wanted}")
    return done


def clear(namespace: str) -> Completed:
    """Let what leaves `namespace` go at once; safe to repeat, proven by the kernel's word."""
    done = LocalRunner().run(script(_CLEAR, namespace))
    if found := _read(done):
        raise HostError(f"namespace `{namespace}` is still slowed by {found}")
    return done


def latency(namespace: str) -> dict[str, int]:
    """Return what is added now, `{"latency": 50, "jitter": 0}` in ms; empty for nothing."""
    if shutil.which("tc") is None or not (network.NAMESPACES / namespace).exists():
        return {}
    return _read(LocalRunner().run(script(f'{_SHOW}\nshow "$1"', namespace)))


def _read(done: Completed) -> dict[str, int]:
    lines = answer(done, "slowing the node's packets", LocalRunner().where).all("qdisc")
    found = next((match for line in lines if (match := _DELAY.search(line))), None)
    if found is None:
        return {}
    size, unit, spread, spread_unit = found.groups()
    jitter = float(spread) * _MS[spread_unit] if spread else 0.0
    return {"latency": round(float(size) * _MS[unit]), "jitter": round(jitter)}
