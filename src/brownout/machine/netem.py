"""Slowing all that a machine sends, by the kernel's netem, wherever a script runs: here, by ssh.

`tc qdisc … netem delay` (tc-netem(8)) holds back what leaves by the interface that has the node's
address, answers and the node's own questions alike. Below a qdisc of ours it is one of two
ways out, and what comes from a spared port, that of our own sshd, takes the other:

    root: prio b80: ──▶ b80:1  at once: what comes from a spared port, and ARP
                    └─▶ b80:2  everything else ──▶ netem b81:

Both are made while everything still goes by the first, so one command (the map of priorities)
slows the node and one frees it. Then what is held back arrives before ours is deleted, and the
kernel puts its own qdisc back. One configured by hand is never replaced: it is said
beforehand that it is in the way, and `tc qdisc add` refuses too. ARP is not slowed, so that it does
not count: what netem has held back shows whether the node sent anything by this interface. By hand:

    tc qdisc del dev eth0 root

The node undoes it by itself after a limit, by a dead man's switch in its own network namespace
(`deadman`), which does just that:

    /bin/sh -c … brownout-undo-delay eth0 4026532281 60
                                     interface  namespace  limit
"""

import re
from typing import Any

from brownout.base.errors import ConfigurationError, HostError, Unsupported
from brownout.machine import deadman
from brownout.machine.commands import (
    Answer,
    LocalRunner,
    Program,
    Runner,
    answer,
    script,
)
from brownout.machine.host import Proof, proof_of
from brownout.machine.network import Network
from brownout.machine.network import why_not as why_no_namespace

__all__ = ["MARK", "SCRIPTS", "check_size", "clear", "delay_now", "in_words"]
__all__ += ["interface_in_words", "slow", "why_not", "why_not_here"]

MARK = "brownout-undo-delay"
#: What is wanted on the node, and the Debian packages that have it.
_TOOLS = "tc ip getent setsid unshare"
_PACKAGES = "iproute2, libc-bin, util-linux"
#: How many packets wait at most; more would be dropped, and that is another fault.
_LIMIT = 100_000
_AT_ONCE, _HELD = " ".join("0" * 16), " ".join("1" * 16)

_FUNCTIONS = f"""\
{deadman.functions(MARK, 'sleep "$3"; tc qdisc del dev "$1" root handle b80:')}
namespace() {{ stat -L -c %i /proc/self/ns/net; }}
armed() {{ switches '[^ ]*' "$(namespace)"; }}
ours() {{ tc qdisc show | sed -n 's/^qdisc prio b80: dev \\([^ ]*\\) root .*/\\1/p'; }}
show() {{
  for interface in $(ours); do
    tc qdisc show dev "$interface" | grep -E '^qdisc (prio b80|netem b81):'
  done
}}
interface_of() {{
  for address in $(getent ahosts "$1" | cut -d' ' -f1 | sort -u); do
    ip -o address show to "$address" | grep -v ' lo ' | tr -s ' ' | cut -d' ' -f2
  done | grep . | head -n 1 | grep . && return
  {{ ip -o -4 route show default; ip -o -6 route show default; }} \\
    | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | head -n 1
}}
"""
#: `$1` the interface if it is known, `$2` the node's address.
_WHY_NOT = f"""{_FUNCTIONS}
for tool in {_TOOLS}; do command -v $tool >/dev/null || {{ echo "missing $tool"; missing=1; }}; done
[ -z "${{missing:-}}" ] || return 0
tried=$(unshare --net true 2>&1) || {{ echo "denied $tried"; return 0; }}
tried=$(unshare --net tc qdisc add dev lo root netem delay 1ms 2>&1) || echo "netem $tried"
tried=$(unshare --net /bin/sh -c 'tc qdisc add dev lo root handle b80: prio \\
  && tc filter add dev lo parent b80: protocol ip u32 \\
    match ip sport 22 0xffff flowid b80:1' 2>&1) || echo "prio $tried"
interface=${{1:-$(interface_of "$2")}}
[ -n "$interface" ] || return 0
echo "interface $interface"
default=$(cat /proc/sys/net/core/default_qdisc 2>/dev/null)
tc qdisc show dev "$interface" | while read -r qdisc kind handle more; do
  case $handle in
    b80:|b81:|ffff:) ;;
    0:) [ "$kind" = noqueue ] || [ "$kind" = mq ] || [ "$kind" = "${{default:-$kind}}" ] \\
      || echo "foreign $kind $handle $more";;
    *) echo "foreign $kind $handle $more";;
  esac
done
"""
#: `$1` the switch's limit, `$2` the interface, `$3` and `$4` the size in ms, then spared ports.
_SLOW = f"""{_FUNCTIONS}
limit=$1 interface=$2 latency=$3 jitter=$4; shift 4
show | sed 's/^qdisc/was/'
earlier=$(armed)
arm "$interface" "$(namespace)" "$limit" || return 1
disarm "$earlier"
echo "switch $switch"
stamp began
prepare() {{
  case " $(ours | tr '\\n' ' ')" in
    *" $interface "*) tc filter del dev "$interface" parent b80: || return 1;;
    *) tc qdisc add dev "$interface" root handle b80: prio bands 2 priomap {_AT_ONCE} || return 1;;
  esac
  tc qdisc replace dev "$interface" parent b80:2 handle b81: \\
    netem limit {_LIMIT} delay "${{latency}}ms" "${{jitter}}ms" || return 1
  for port in "$@"; do
    tc filter add dev "$interface" parent b80: protocol ip prio 1 u32 \\
      match ip protocol 6 0xff match ip sport "$port" 0xffff flowid b80:1 || return 1
    tc filter add dev "$interface" parent b80: protocol ipv6 prio 2 u32 \\
      match ip6 protocol 6 0xff match ip6 sport "$port" 0xffff flowid b80:1 || return 1
  done
  tc filter add dev "$interface" parent b80: protocol arp prio 3 u32 \\
    match u32 0 0 flowid b80:1 || return 1
  stamp last_no
  tc qdisc change dev "$interface" root handle b80: prio bands 2 priomap {_HELD}
}}
prepare "$@" || {{
  tc qdisc del dev "$interface" root handle b80: 2>/dev/null
  disarm "$switch"
  return 1
}}
still_armed "$interface" "$(namespace)" || {{
  tc qdisc del dev "$interface" root handle b80:
  return 1
}}
stamp first_yes
stamp ended
show
"""
_CLEAR = f"""{_FUNCTIONS}
held() {{
  tc -s qdisc show dev "$1" | sed -n '/^qdisc netem b81:/,/backlog/p' \\
    | grep -q -E 'backlog .* [1-9][0-9.]*[KMG]?p'
}}
counted() {{
  tc -s qdisc show dev "$1" | sed -n '/^qdisc netem b81:/,/backlog/p' \\
    | sed -n 's/.* \\([0-9]*\\) pkt (dropped \\([0-9]*\\),.*/delayed \\1\\ndropped \\2/p'
}}
command -v tc >/dev/null || return 0
stamp began
stamp last_no
show | sed 's/^qdisc/was/'
for interface in $(ours); do
  tc qdisc change dev "$interface" root handle b80: prio bands 2 priomap {_AT_ONCE}
done
stamp first_yes
for interface in $(ours); do
  try=0
  while held "$interface" && [ $try -lt 1300 ]; do sleep 0.05; try=$((try + 1)); done
  counted "$interface"
  tc qdisc del dev "$interface" root handle b80: || return 1
done
stamp ended
show
disarm "$(armed)"
"""
#: Longer than what is held back can take to arrive.
_CLEAR_TIMEOUT_S = 150.0
_SHOW = f"{_FUNCTIONS}\ncommand -v tc >/dev/null || return 0\nshow\n"
#: `netem b81: parent b80:2 limit 100000 delay 50ms  5ms`, or `… delay 1.5s`.
_DELAY = re.compile(r"netem b81: .*?delay ([\d.]+)(us|ms|s)(?: +([\d.]+)(us|ms|s))?")
_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-delay": Program(_WHY_NOT, '[ -z "$1" ] && [ "$2" = "$may_address" ]'),
    "delay": Program(
        _SLOW,
        "may_numbers \"$1\" || return 1; case $2 in ''|-*|*[!A-Za-z0-9._@:-]*) return 1;; esac; "
        'shift 2; may_numbers "$@"',
        act="delay",
        undone_by="undelay",
    ),
    "undelay": Program(_CLEAR, act="undelay"),
    "delayed": Program(_SHOW),
}


def why_not_here() -> str:
    """Return why this machine cannot slow a node's packets; empty if it can.

    It is tried, in a network namespace that nothing is in and that ends with the try. A kernel
    that has netem as a module loads it.
    """
    runner = LocalRunner()
    return why_no_namespace() or _missing(_asked(runner, "lo", ""), runner)


def check_size(latency_ms: int, jitter_ms: int) -> None:
    """Raise `ConfigurationError` if that is not a delay."""
    problems = []
    if not 1 <= latency_ms <= 60_000:
        problems.append(f"latency_ms: found {latency_ms}, wanted 1 to 60000")
    if not 0 <= jitter_ms <= latency_ms:
        problems.append(f"jitter_ms: found {jitter_ms}, wanted 0 to latency_ms")
    if problems:
        raise ConfigurationError(problems)


def in_words(delay: dict[str, int], by: str) -> str:
    """Return a delay in words, as `50 ms ± 5 ms by netem`; nothing for none."""
    spread = f" ± {delay['jitter']} ms" if delay.get("jitter") else ""
    return f"{delay['latency']} ms{spread} by {by}" if delay else ""


def why_not(network: Network) -> str:
    """Return why what the node sends cannot be slowed; empty if it can."""
    return _way_out(network)[0] if network.is_ready() else ""


def slow(
    network: Network, latency_ms: int, jitter_ms: int, undo_after_s: float | None = None
) -> Proof:
    """Slow it by so much, whatever it was slowed by before; the switch is armed before.

    What the node sends from the TCP port by which we come is not slowed. It is as fast as before
    by itself after `undo_after_s` seconds (the network's own limit where none are given).
    """
    check_size(latency_ms, jitter_ms)
    reason, interface = _way_out(network)
    if reason:
        raise Unsupported(reason)
    limit_s = undo_after_s or network.undo_after_s
    spared = [network.way_in().port] if network.way_in else []
    words = (f"{limit_s:g}", interface, latency_ms, jitter_ms, *spared)
    done = network.runner.run(script(_SLOW, *words))
    reply = answer(done, "slowing what the node sends", network.runner.where)
    there, wanted = _delay(reply, "qdisc"), {"latency": latency_ms, "jitter": jitter_ms}
    if there != wanted:
        raise HostError(f"node `{network.node}`: found {there}, wanted {wanted}")
    evidence = {
        "state": "slowed",
        "by": "netem",
        "latency_ms": latency_ms,
        "jitter_ms": jitter_ms,
        "interface": interface,
        **({"spared_ports": spared} if spared else {}),
        "undo_after_s": limit_s,
        "undo_pid": reply.number("switch"),
    }
    return proof_of(done, reply, evidence, _delay(reply, "was") == wanted)


def clear(network: Network) -> Proof:
    """Let the node be as fast as it is, and end the switch; proven by the kernel's word.

    Where it was slowed, the evidence has how many packets were, `delayed_packets`, and how many
    were lost on the way, `dropped_packets`.
    """
    evidence: dict[str, Any] = {"state": "not slowed", "by": "netem"}
    done = network.runner.run(script(_CLEAR), _CLEAR_TIMEOUT_S)
    reply = answer(done, "ending the delay of what the node sends", network.runner.where)
    if left := reply.all("qdisc"):
        raise HostError(f"node `{network.node}` is still slowed by {' | '.join(left)}")
    if delayed := reply.all("delayed"):
        evidence["delayed_packets"] = sum(map(int, delayed))
    if dropped := reply.number("dropped"):
        evidence["dropped_packets"] = dropped
    network.leave()
    return proof_of(done, reply, evidence, not reply.all("was"))


def delay_now(network: Network) -> str:
    """Return in words by what the node is slowed, as `50 ms ± 5 ms by netem`; empty for nothing."""
    done = network.runner.run(script(_SHOW))
    reply = answer(done, "looking at what the node's packets wait for", network.runner.where)
    return in_words(_delay(reply, "qdisc"), "netem")


def interface_in_words(network: Network) -> str:
    """Return for a plan where the latency is added, and on which interface."""
    interface = network.interface or "the interface that has its address"
    return f"netem on {interface} of {network.runner.where}"


def _way_out(network: Network) -> tuple[str, str]:
    """Return why the node cannot be slowed, and the interface by which its packets leave."""
    reply = _asked(network.runner, network.interface, network.address)
    node, where = f"node `{network.node}`", network.runner.where
    if reason := _missing(reply, network.runner):
        return f"{node}: {reason}", ""
    interface = reply.get("interface")
    if not interface:
        return f"{node}: no interface of {where} has its address or the default route", ""
    if foreign := reply.all("foreign"):
        return (
            f"{node}: {interface} of {where} has a qdisc that an operator configured, which "
            f"could not be put back: {foreign[0]} (tc qdisc show dev {interface})"
        ), ""
    return "", interface


def _asked(runner: Runner, interface: str, address: str) -> Answer:
    done = runner.run(script(_WHY_NOT, interface, address))
    return answer(done, "looking for what slows a node", runner.where)


def _missing(reply: Answer, runner: Runner) -> str:
    """Return what is missing on the machine, for our login there or in the kernel."""
    if missing := reply.all("missing"):
        return f"{runner.where} has no {', '.join(missing)} (Debian: {_PACKAGES})"
    if denied := reply.get("denied"):
        return f"the login on {runner.where} may not change its network (root may): {denied}"
    local = isinstance(runner, LocalRunner)
    kernel = "this kernel" if local else f"the kernel of {runner.where}"
    for what in ("netem", "prio"):
        if what in dict(reply.lines):
            refusal = reply.get(what) or "it did not say why"
            return f"{kernel} has no {what} (`tc qdisc … {what}`: {refusal})"
    return ""


def _delay(reply: Answer, name: str) -> dict[str, int]:
    """Return what is added, `{"latency": 50, "jitter": 0}` in ms; zero where ours is unfinished."""
    lines = reply.all(name)
    if not lines:
        return {}
    shown = next((match for line in lines if (match := _DELAY.search(line))), None)
    held = any(line.startswith("prio b80:") and "priomap 1 1" in " ".join(line.split())
               for line in lines)  # fmt: skip
    if shown is None or not held:
        return {"latency": 0, "jitter": 0}
    size, unit, spread, spread_unit = shown.groups()
    jitter = float(spread) * _MS[spread_unit] if spread else 0.0
    return {"latency": round(float(size) * _MS[unit]), "jitter": round(jitter)}
