"""Dropping packets of a node by nftables, wherever a script runs: here, by ssh, in a helper.

Each fault that drops packets has a table of our own (nft(8)), so several of them on one node do
not touch each other, and no other rule is touched:

    table inet brownout_one_way
      incoming   hook prerouting, before the node's network hears of a packet   ─┐ jump
      outgoing   hook postrouting, last of all                                  ─┤
      …_lost     what is dropped of the packets that match: all, a share, what   ◀┘
                 exceeds a rate; with a counter

A sender notices at once what is dropped in `postrouting`, and sends it again without having lost
anything. That is as good as a loss where everything is dropped. Where a share of it is to be lost
on the way, as the sender would see it on a wire, the chain is at the `egress` of each interface
that has an address, in a table of the family `netdev`, and forwards the packet to `lo`, which
throws it away since it is for another one.

Names are resolved on the node, as its own database would. The node undoes it by itself after a
limit, by a dead man's switch in its own network namespace (`deadman`), one for each table:

    /bin/sh -c … brownout-undo-one-way network 4026532281 60
                                               namespace  limit
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from brownout.base.errors import ConfigurationError, HostError, Refused, Unsupported
from brownout.inventory.model import Node
from brownout.machine import deadman
from brownout.machine.commands import Answer, Program, answer, last_words, script
from brownout.machine.host import Host, Proof, proof_of
from brownout.machine.network import Network

__all__ = ["DIRECTIONS", "Direction", "Dropped", "Match", "PacketFilter", "Whose"]

Direction = Literal["in", "out", "both"]
DIRECTIONS: tuple[Direction, ...] = ("in", "out", "both")
#: Whose packets: those of the addresses, those of everybody but these, or all.
Whose = Literal["these", "others", "all"]

#: What is wanted on the node, and the Debian packages that have it.
_TOOLS = "nft setsid getent ip"
_PACKAGES = "nftables, util-linux, libc-bin, iproute2"
#: What a script that refuses answers, apart from what goes wrong.
_REFUSED = 3
#: What goes through at once before a rate counts: more than the largest packet that the kernel
#: hands over in one piece.
_BURST = 65_536

_SHOW_FUNCTIONS = r"""
show() {
  for family in $families; do
    for chain in incoming outgoing; do
      nft list chain $family $table $chain 2>/dev/null | grep -q -- "jump ${chain}_lost" || continue
      nft list chain $family $table ${chain}_lost 2>/dev/null \
        | sed -n 's/^[[:space:]]*\(.*\)counter packets \([0-9]*\) bytes .*/\1|\2/p' \
        | while IFS='|' read -r rule packets; do
          echo "$chain $rule"
          echo "dropped $packets"
        done
    done
  done
  for set in peers4 peers6; do
    for family in $families; do nft list set $family $table $set 2>/dev/null; done \
      | tr -s '\t ,{}=' '\n' | grep -E '^([0-9]+\.[0-9.]+|[0-9a-f]*:[0-9a-f:.]*)$' | sort -u \
      | while read -r address; do echo "cut $address"; done
  done
}
"""
#: `$1` the switch's limit, `$2` the address that we come from, `$3` the port that we come by, `$4`
#: the direction, `$5` whose packets, `$6` the one port or 0, `$7` and `$8` how many of them, then
#: addresses.
_DROP = r"""
limit=$1 spared=$2 way=$3 direction=$4 whose=$5 port=$6 how=$7 number=$8; shift 8
own=" $(ip -o address show | tr -s ' ' | cut -d' ' -f4 | cut -d/ -f1 | tr '\n' ' ') "
case $whose-$port in others-*) spared=;; *-0|*-"$way") ;; *) spared=;; esac
four= six=
for peer in "$@"; do
  resolved=$(getent ahosts "$peer" | cut -d' ' -f1 | sort -u)
  [ -n "$resolved" ] || { echo "\`$peer\` has no address there" >&2; return REFUSED; }
  for address in $resolved; do
    case $own in *" $address "*)
      [ "$whose" = others ] && continue
      echo "\`$peer\` is an address of its own machine" >&2; return REFUSED;; esac
    case " $spared " in *" $address "*)
      echo "\`$peer\` is where brownout comes from" >&2; return REFUSED;; esac
    case $address in
      *:*) six="$six${six:+, }$address";;
      *) four="$four${four:+, }$address";;
    esac
  done
done
[ "$whose" != these ] || way=0
case $how$number in
  share10000|all*) lost=;;
  share*) lost="numgen random mod 10000 < $number";;
  rate*) lost="limit rate over $number bytes/second burst BURST bytes";;
esac
devices=$(ip -o address show | grep -v "^[0-9]*: lo " | tr -s ' ' | cut -d' ' -f2 | sort -u)
devices=$(echo $devices | sed "s/ /, /g")
[ "$direction" = in ] || [ "$families" = inet ] || [ -n "$devices" ] \
  || { echo "no interface there has an address" >&2; return REFUSED; }
sets() {
  echo "set peers4 { type ipv4_addr; ${four:+elements = { $four \};} }"
  echo "set peers6 { type ipv6_addr; ${six:+elements = { $six \};} }"
}
matches() {
  case $whose in
    these) echo "ip $1 @peers4"; echo "ip6 $1 @peers6";;
    others) echo "ip $1 != @peers4"; echo "ip6 $1 != @peers6";;
    all) echo;;
  esac | while read -r of; do
    if [ "$port" = 0 ]; then echo "$of"; else
      echo "meta l4proto { tcp, udp } th $2 $port $of"
      [ "$whose" = others ] || echo "meta l4proto { tcp, udp } th $3 $port th $2 != $port $of"
    fi
  done
}
chain() {
  echo "chain $1_lost { $lost counter $6; }"
  echo "chain $1 { type filter $2; $5"
  [ "$way" = 0 ] || echo "tcp $4 $way return;"
  case $4 in dport) other=sport;; *) other=dport;; esac
  matches "$3" "$4" "$other" | while read -r match; do echo "$match jump $1_lost;"; done
  echo "}"
}
incoming() { chain incoming "hook prerouting priority -310" saddr dport "iif lo return;" drop; }
rules() {
  for family in $families; do
    echo "table $family $table"; echo "delete table $family $table"
  done
  echo "table inet $table {"; sets
  [ "$direction" = out ] || incoming
  if [ "$families" = inet ] && [ "$direction" != in ]; then
    chain outgoing "hook postrouting priority 310" daddr sport "oif lo return;" drop
  fi
  echo "}"
  [ "$families" != inet ] && [ "$direction" != in ] || return 0
  echo "table netdev $table {"; sets
  chain outgoing "hook egress devices = { $devices } priority 0" daddr sport "" "fwd to lo"
  echo "}"
}
earlier=$(armed)
arm network "$(namespace)" "$limit" || return 1
disarm "$earlier"
echo "switch $switch"
show | sed 's/^/was_/'
stamp began
stamp last_no
rules | nft -f - || { [ -n "$(show)" ] || disarm "$switch"; return 1; }
still_armed network "$(namespace)" || {
  for family in $families; do nft delete table $family $table; done
  return 1
}
stamp first_yes
stamp ended
for address in $four $six; do echo "wanted ${address%,}"; done
show
""".replace("REFUSED", str(_REFUSED)).replace("BURST", str(_BURST))
_CLEAR = r"""
stamp began
stamp last_no
show | sed 's/^/was_/'
for family in $families; do
  nft list table $family $table >/dev/null 2>&1 || continue
  nft delete table $family $table || return 1
done
stamp first_yes
stamp ended
show
disarm "$(armed)"
"""
_SHOW = "command -v nft >/dev/null || return 0\nshow\n"
#: Whether the kernel would take a rule of this kind: it is asked, and nothing is made.
_WHY_NOT = f"""\
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "missing $tool"; done
command -v nft >/dev/null || return 0
reason=$(nft list tables 2>&1) || {{ echo "denied $reason"; return 0; }}
try() {{ reason=$(nft -c -f - 2>&1) || echo "$1" $reason; }}
echo "table inet $table {{ chain lost {{ $sample counter drop; }}
}}" | try rule
[ "$families" != inet ] || return 0
echo "table netdev $table {{ chain lost {{ $sample counter fwd to lo; }}
  chain out {{ type filter hook egress device lo priority 0; jump lost; }}
}}" | try egress
"""
_ADDRESS = r"case $2 in *[!0-9A-Fa-f.:%\ ]*) return 1;; esac"
#: How the kernel says a rate, `12500 bytes/second` or `2 mbytes/second`.
_RATE = re.compile(r"limit rate over (\d+) (|k|m)bytes/second")
_SCALE = {"": 1, "k": 1024, "m": 1024**2}


@dataclass(frozen=True, slots=True)
class Match:
    """Which packets are dropped, and how many of them.

    `addresses` are `host:port`, or hosts, of those whose packets are meant, or of those whose are
    not (`others`). `port` is a port of the node or of its peer, of TCP or UDP; of the node alone
    for `others`; 0 means every one. `share` is of 10,000 packets; `rate` is the bytes per second
    that go through, and takes the place of a share.
    """

    direction: Direction = "both"
    whose: Whose = "these"
    addresses: tuple[str, ...] = ()
    port: int = 0
    share: int = 10_000
    rate: int = 0

    @property
    def hosts(self) -> list[str]:
        """The hosts of its addresses, each once."""
        return list(dict.fromkeys(_host(each) for each in self.addresses))

    @property
    def directions(self) -> tuple[str, ...]:
        """The chains that drop, as the kernel's rules call them."""
        chains = {"in": ("incoming",), "out": ("outgoing",)}
        return chains.get(self.direction, ("incoming", "outgoing"))

    @property
    def rule(self) -> str:
        """The rule as the kernel says it, empty where all packets are dropped."""
        if self.rate:
            return f"limit rate over {self.rate} bytes/second"
        return "" if self.share == 10_000 else f"numgen random mod 10000 < {self.share}"

    @property
    def words(self) -> tuple[str, int]:
        """How many packets, as the script is told."""
        if self.rate:
            return "rate", self.rate
        return ("all", 0) if self.share == 10_000 else ("share", self.share)


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a table of ours drops now, as the kernel says it; nothing where there is none.

    `rules` has the rule of each direction, `{"incoming": "numgen random mod 10000 < 1000"}`, empty
    where everything is dropped, and `packets` how many were dropped so far.
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    packets: int = 0

    def __bool__(self) -> bool:
        return bool(self.rules)

    def __str__(self) -> str:
        rules = [f"{chain} {rule or 'all'}" for chain, rule in self.rules.items()]
        return "; ".join([*rules, *([", ".join(self.addresses)] if self.addresses else [])])


@dataclass(frozen=True, slots=True)
class PacketFilter:
    """One table of ours, and the scripts that make it, show it and take it away.

    `act` and `undone_by` are those of its fault, by which its programs are called, and `looks` is
    the program that shows it. `state` and `undone` are how a node is with it and without it.
    `silent` says that what goes out is lost as on a wire. `sample` is a rule as this table has it,
    and `allowed` a shell pattern of what its program may be asked for: direction, whose, how many.
    """

    act: str
    undone_by: str
    looks: str
    table: str
    state: str
    undone: str
    silent: bool = False
    sample: str = ""
    allowed: str = "both-these-all"

    @property
    def mark(self) -> str:
        """What its dead man's switches are called."""
        return f"brownout-undo-{self.act.replace('_', '-')}"

    @property
    def families(self) -> tuple[str, ...]:
        """The families of tables that it has one of."""
        return ("inet", "netdev") if self.silent else ("inet",)

    @property
    def programs(self) -> dict[str, Program]:
        """What may run as a program of its own, by name (`ssh.helpers`)."""
        check = (
            f'{_ADDRESS}; may_numbers "$1" "$3" "$6" "$8" || return 1; '
            f"case $4-$5-$7 in {self.allowed}) ;; *) return 1;; esac; shift 8; "
            'for each; do may_in "$each" "$may_peers" || return 1; done'
        )
        return {
            self._named("why-no-"): Program(self._script(_WHY_NOT)),
            self._named(): Program(
                self._script(_DROP), check, act=self.act, undone_by=self.undone_by
            ),
            self.undone_by.replace("_", "-"): Program(self._script(_CLEAR), act=self.undone_by),
            self.looks: Program(self._script(_SHOW)),
        }

    def why_not(self, network: Network) -> str:
        """Return why a node of `network` cannot lose packets so; empty if it can."""
        if not network.is_ready():
            return ""
        where, node = network.runner.where, f"node `{network.node}`"
        done = network.runner.run(script(self._script(_WHY_NOT)))
        reply = answer(done, "looking for what drops packets", where)
        if missing := reply.all("missing"):
            return f"{node}: {', '.join(missing)} not found on {where} (Debian: {_PACKAGES})"
        if denied := reply.get("denied"):
            return f"{node}: nft may do nothing on {where}: {denied}"
        for what in ("rule", "egress"):
            if reason := reply.get(what):
                return f"{node}: the kernel of {where} takes no such rule ({what}): {reason}"
        return ""

    def drop(self, network: Network, match: Match, undo_after_s: float | None = None) -> Proof:
        """Have the packets that `match` dropped; the switch is armed before.

        Everything that was asked for is there or nothing, which the kernel's rules prove. The
        node undoes it by itself after `undo_after_s` seconds (the network's own limit where none
        are given). The port by which we come is spared in either direction. Raises `Refused`
        where an address is one of the node's own machine, or the one from which we come.
        """
        if match.whose == "these" and not match.hosts:
            raise ConfigurationError(f"node `{network.node}`: no other node to cut it off from")
        way = network.way_in() if network.way_in else None
        limit_s = undo_after_s or network.undo_after_s
        spared = way.port if way and match.whose != "these" else 0
        ours = (way.address, way.port) if way else ("", 0)
        words = (*ours, match.direction, match.whose)
        text = script(
            self._script(_DROP),
            f"{limit_s:g}", *words, match.port, *match.words, *match.hosts,
        )  # fmt: skip
        done = network.runner.run(text)
        if done.status == _REFUSED:
            reason = last_words(done.errors, 1)
            raise Refused(f"node `{network.node}` is not {self.state}: {reason}")
        reply = answer(done, f"leaving the node {self.state}", network.runner.where)
        there, before = _dropped(reply), _dropped(reply, "was_")
        wanted = reply.all("wanted")
        if missing := sorted(set(wanted) - set(there.addresses)):
            raise HostError(f"node `{network.node}` is not {self.state}: no {', '.join(missing)}")
        if there.rules != dict.fromkeys(match.directions, match.rule):
            raise HostError(
                f"node `{network.node}`: found the rules {dict(there.rules)}, wanted "
                f"`{match.rule or 'drop'}` for {' and '.join(match.directions)} packets"
            )
        evidence: dict[str, Any] = {"state": self.state}
        if wanted:
            evidence["except" if match.whose == "others" else "from"] = wanted
        if match.port:
            evidence["port"] = match.port
        if spared:
            evidence["spared_ports"] = [spared]
        evidence["rules"] = dict(there.rules)
        evidence |= {"undo_after_s": limit_s, "undo_pid": reply.number("switch")}
        already = before.rules == there.rules and set(wanted) <= set(before.addresses)
        return proof_of(done, reply, evidence, already)

    def clear(self, network: Network) -> Proof:
        """Have no packet dropped any more, and end the switch; safe to repeat.

        Where something was dropped, the evidence has its `rules` and how many packets met them,
        `dropped_packets`.
        """
        done = network.runner.run(script(self._script(_CLEAR)))
        reply = answer(done, f"having the node {self.undone} again", network.runner.where)
        if left := _dropped(reply):
            raise HostError(f"node `{network.node}` is still {self.state}: {dict(left.rules)}")
        before = _dropped(reply, "was_")
        network.leave()
        evidence: dict[str, Any] = {"state": self.undone}
        if before:
            evidence |= {"rules": dict(before.rules), "dropped_packets": before.packets}
        return proof_of(done, reply, evidence, not before)

    def look(self, network: Network) -> Dropped:
        """Return what is dropped now."""
        done = network.runner.run(script(self._script(_SHOW)))
        return _dropped(answer(done, "looking at the node's rules", network.runner.where))

    def is_in_place(self, host: Host, proof: Mapping[str, Any]) -> bool:
        """Return whether everything is dropped that was, by the proof of `drop`."""
        there = self.look(host.network())
        addresses = [*proof.get("from", ()), *proof.get("except", ())]
        return there.rules == proof["rules"] and set(addresses) <= set(there.addresses)

    def left_on(self, node: Node, host: Host) -> str:
        """Return in words what is still dropped; empty for nothing.

        That is so where the node's network cannot be changed at all.
        """
        try:
            network = host.network()
        except Unsupported:
            return ""
        return str(self.look(network)) if network.is_ready() else ""

    def undo_on(self, node: Node, host: Host) -> Proof:
        """Have no packet of the node dropped any more; safe to repeat."""
        return self.clear(host.network())

    def plan_of_undo(self, network: Network) -> str:
        """Return what `clear` would change, for a plan."""
        tables = "; ".join(f"nft delete table {family} {self.table}" for family in self.families)
        return f"{network.runner.where}: {tables}"

    def _named(self, before: str = "") -> str:
        return before + self.act.replace("_", "-")

    def _script(self, body: str) -> str:
        undo = "; ".join(f"nft delete table {family} {self.table}" for family in self.families)
        switch = deadman.functions(self.mark, f'sleep "$3"; {undo}')
        return (
            f"{switch}"
            f"table={self.table} families='{' '.join(self.families)}' sample='{self.sample}'\n"
            "namespace() { stat -L -c %i /proc/self/ns/net; }\n"
            'armed() { switches network "$(namespace)"; }\n'
            f"{_SHOW_FUNCTIONS}{body}"
        )


def _host(address: str) -> str:
    """Return the host of `host:port`, or of a host alone."""
    return (address.rpartition(":")[0] or address).strip("[]")


def _dropped(reply: Answer, before: str = "") -> Dropped:
    rules = {
        chain: _in_bytes(reply.get(before + chain).strip())
        for chain in ("incoming", "outgoing")
        if reply.all(before + chain)
    }
    packets = sum(int(number) for number in reply.all(f"{before}dropped") if number.isdigit())
    return Dropped(rules, tuple(reply.all(f"{before}cut")) if rules else (), packets)


def _in_bytes(rule: str) -> str:
    """Return a rule with its rate in bytes, and without its burst."""
    shown = _RATE.match(rule)
    if shown is None:
        return rule
    return f"limit rate over {int(shown[1]) * _SCALE[shown[2]]} bytes/second"
