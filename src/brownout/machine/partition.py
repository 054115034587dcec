"""Cutting one node off from others by nftables, wherever a script runs: here, by ssh, in a helper.

A table of our own drops what comes from these addresses before the node's network hears of it, and
what goes to them last of all (nft(8), hooks `prerouting` and `postrouting`). So both directions go
at once, open connections hang and new ones time out, as where a cable was pulled; everybody else
still reaches the node, no other rule is touched, and one command undoes it:

    nft delete table inet brownout

Names are resolved on the node, as its own database would. The node undoes it by itself after a
limit, by a dead man's switch in its own network namespace (`deadman`):

    /bin/sh -c … brownout-undo-partition network 4026532281 60
                                                 namespace  limit
"""

from collections.abc import Sequence
from typing import Any

from brownout.base.errors import ConfigurationError, HostError, Refused, Unsupported
from brownout.inventory.model import Node
from brownout.machine import deadman
from brownout.machine.commands import Answer, Completed, Program, Runner, answer, last_words, script
from brownout.machine.host import Host, Proof
from brownout.machine.moments import bracket
from brownout.machine.network import Network

__all__ = ["MARK", "SCRIPTS", "cut", "disarm", "join", "left_on", "peers_cut", "plan_of_cut"]
__all__ += ["plan_of_join", "undo_on", "why_not"]

MARK = "brownout-undo-partition"
TABLE = "inet brownout"
#: What is wanted on the node, and the Debian packages that have it.
_TOOLS = "nft setsid getent ip"
_PACKAGES = "nftables, util-linux, libc-bin, iproute2"
#: What a cut that its script refuses answers, apart from what goes wrong.
_REFUSED = 3

_FUNCTIONS = f"""\
{deadman.functions(MARK, f'sleep "$3"; nft delete table {TABLE}')}
armed() {{ switches network "$(stat -L -c %i /proc/self/ns/net)"; }}
show() {{
  for chain in incoming outgoing; do
    nft list chain {TABLE} $chain 2>/dev/null | grep -q drop || return 0
  done
  for set in peers4 peers6; do
    nft list set {TABLE} $set 2>/dev/null | tr -s '\\t ,{{}}=' '\\n' \\
      | grep -E '^([0-9]+\\.[0-9.]+|[0-9a-f]*:[0-9a-f:.]*)$' | while read -r address; do
        echo "cut $address"; done
  done
}}
"""
#: `$1` the switch's limit, `$2` addresses that must stay reachable, then the peers.
_CUT = f"""{_FUNCTIONS}
limit=$1 spared=$2; shift 2
own=" $(ip -o address show | tr -s ' ' | cut -d' ' -f4 | cut -d/ -f1 | tr '\\n' ' ') "
four= six=
for peer in "$@"; do
  found=$(getent ahosts "$peer" | cut -d' ' -f1 | sort -u)
  [ -n "$found" ] || {{ echo "\\`$peer\\` has no address there" >&2; return {_REFUSED}; }}
  for address in $found; do
    case $own in *" $address "*)
      echo "\\`$peer\\` is an address of its own machine" >&2; return {_REFUSED};; esac
    case " $spared " in *" $address "*)
      echo "\\`$peer\\` is where brownout comes from" >&2; return {_REFUSED};; esac
    case $address in
      *:*) six="$six${{six:+, }}$address";;
      *) four="$four${{four:+, }}$address";;
    esac
  done
done
earlier=$(armed)
arm network "$(stat -L -c %i /proc/self/ns/net)" "$limit" || return 1
disarm "$earlier"
echo "switch $switch"
[ -z "$four" ] || in4="elements = {{ $four }};"
[ -z "$six" ] || in6="elements = {{ $six }};"
stamp began
stamp last_no
nft -f - <<RULES || {{ disarm "$switch"; return 1; }}
table {TABLE}
delete table {TABLE}
table {TABLE} {{
  set peers4 {{ type ipv4_addr; ${{in4:-}} }}
  set peers6 {{ type ipv6_addr; ${{in6:-}} }}
  chain incoming {{
    type filter hook prerouting priority -310; ip saddr @peers4 drop; ip6 saddr @peers6 drop;
  }}
  chain outgoing {{
    type filter hook postrouting priority 310; ip daddr @peers4 drop; ip6 daddr @peers6 drop;
  }}
}}
RULES
stamp first_yes
stamp ended
for address in $four $six; do echo "wanted ${{address%,}}"; done
show
"""
_JOIN = f"""{_FUNCTIONS}
stamp began
stamp last_no
show | sed 's/^cut/was/'
nft -f - <<RULES || return 1
table {TABLE}
delete table {TABLE}
RULES
stamp first_yes
stamp ended
show
disarm "$(armed)"
"""
_SHOW = f"{_FUNCTIONS}\ncommand -v nft >/dev/null || return 0\nshow\n"
_DISARM = f'{_FUNCTIONS}\ndisarm "$(armed)"\n'
_WHY_NOT = f"""\
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
command -v nft >/dev/null && {{ said=$(nft list tables 2>&1) || echo "denied $said"; }}
true
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {
    "why-no-partition": Program(_WHY_NOT),
    "partition": Program(
        _CUT,
        'may_numbers "$1" || return 1; case $2 in *[!0-9A-Fa-f.:%\\ ]*) return 1;; esac; shift 2; '
        'for each; do may_in "$each" "$may_peers" || return 1; done',
        act="partition",
        undone_by="join",
    ),
    "join": Program(_JOIN, act="join"),
    "partitioned": Program(_SHOW),
}


def why_not(network: Network) -> str:
    """Return why a node of `network` cannot be cut off from others; empty if it can."""
    if not network.is_ready():
        return ""
    where = network.runner.where
    reply = answer(network.runner.run(script(_WHY_NOT)), "looking for what cuts a node off", where)
    if missing := reply.all("missing"):
        names = ", ".join(missing)
        return f"node `{network.node}`: {names} not found on {where} (Debian: {_PACKAGES})"
    if denied := reply.get("denied"):
        return f"node `{network.node}`: nft may do nothing on {where}: {denied}"
    return ""


def cut(network: Network, addresses: Sequence[str], undo_after_s: float | None = None) -> Proof:
    """Cut the node off from the machines of these `host:port`; the switch is armed before.

    All of them are cut or none, which the kernel's rules prove. The node joins them again by
    itself after `undo_after_s` seconds (the network's own limit where none are given). Raises
    `Refused` where one is an address of the node's own machine, or the one by which we come.
    """
    peers = list(dict.fromkeys(each.rpartition(":")[0].strip("[]") for each in addresses))
    if not peers:
        raise ConfigurationError(f"node `{network.node}`: no other node to cut it off from")
    before = set(peers_cut(network))
    spared = network.way_in().address if network.way_in else ""
    limit_s = undo_after_s or network.undo_after_s
    done = network.runner.run(script(_CUT, f"{limit_s:g}", spared, *peers))
    if done.status == _REFUSED:
        raise Refused(f"node `{network.node}` is not cut off: {last_words(done.errors, 1)}")
    reply = answer(done, "cutting the node off", network.runner.where)
    wanted, there = reply.all("wanted"), reply.all("cut")
    if missing := sorted(set(wanted) - set(there)):
        raise HostError(f"node `{network.node}` is not cut off from {', '.join(missing)}")
    switch = {"undo_after_s": limit_s, "undo_pid": reply.number("switch")}
    evidence = {"state": "cut off", "from": wanted, **switch}
    return _proof(done, reply, evidence, set(wanted) <= before)


def join(network: Network) -> Proof:
    """Let the node reach every other one again, and end the switch."""
    done = network.runner.run(script(_JOIN))
    reply = answer(done, "joining the node again", network.runner.where)
    if left := reply.all("cut"):
        raise HostError(f"node `{network.node}` is still cut off from {', '.join(left)}")
    network.leave()
    return _proof(done, reply, {"state": "joined"}, not reply.all("was"))


def peers_cut(network: Network) -> list[str]:
    """Return the addresses that the node is cut off from now."""
    done = network.runner.run(script(_SHOW))
    return answer(done, "looking at the node's rules", network.runner.where).all("cut")


def left_on(node: Node, host: Host) -> str:
    """Return in words what the node is still cut off from; empty for nothing."""
    try:
        network = host.network()
    except Unsupported:
        return ""
    return ", ".join(peers_cut(network)) if network.is_ready() else ""


def undo_on(node: Node, host: Host) -> Proof:
    """Let the node reach every other one again; safe to repeat."""
    return join(host.network())


def plan_of_cut(network: Network) -> str:
    """Return what `cut` would change, for a plan."""
    return (
        f"{network.runner.where}: drop what comes from the other members and goes to them, "
        f"by nft in table {TABLE}"
    )


def plan_of_join(network: Network) -> str:
    """Return what `join` would change, for a plan."""
    return f"{network.runner.where}: nft delete table {TABLE}"


def disarm(runner: Runner) -> None:
    """End every switch in the network namespace that `runner` runs scripts in."""
    answer(runner.run(script(_DISARM)), "ending the dead man's switch", runner.where)


def _proof(done: Completed, reply: Answer, evidence: dict[str, Any], already: bool) -> Proof:
    effective, uncertainty_s = bracket(done, reply)
    return Proof(effective, uncertainty_s, evidence, already=already)
