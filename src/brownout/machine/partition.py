"""Cutting one node off from others by nftables, wherever a script runs: here, by ssh, in a helper.

A table of our own drops what comes from these addresses before the node's network hears of it, and
what goes to them last of all (nft(8), hooks `prerouting` and `postrouting`). So both directions go
at once, open connections hang and new ones time out, as where a cable was pulled; everybody else
still reaches the node, no rule of anybody else is touched, and one command undoes it:

    nft delete table inet brownout

Names are resolved on the node, as its own database would. The node undoes it by itself after a
limit, by a dead man's switch in its own network namespace (`deadman`):

    /bin/sh -c … brownout-undo-partition network 4026532281 60
                                                 namespace  limit
"""

from collections.abc import Sequence
from typing import Any

from brownout.base.errors import ConfigurationError, HostError, Refused, Unsupported
from brownout.machine import deadman
from brownout.machine.commands import Completed, Runner, answer, last_words, script
from brownout.machine.host import Proof
from brownout.machine.moments import bracket

__all__ = ["MARK", "SCRIPTS", "NodeNetwork", "disarm"]

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
for tool in {_TOOLS}; do command -v $tool >/dev/null || echo "lacks $tool"; done
command -v nft >/dev/null && {{ said=$(nft list tables 2>&1) || echo "denied $said"; }}
true
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"why-no-partition": _WHY_NOT, "partition": _CUT, "join": _JOIN, "partitioned": _SHOW}


class NodeNetwork:
    """The network that a node sees: that in which `runner` runs scripts.

    `undo_after_s` is the limit of a switch where none is given; `why_not` is known beforehand.
    """

    def __init__(self, node: str, runner: Runner, undo_after_s: float, why_not: str = "") -> None:
        self._node, self._runner = node, runner
        self._undo_after_s, self._why_not = undo_after_s, why_not

    def why_not(self) -> str:
        """Return why this node cannot be cut off from others; empty if it can."""
        if self._why_not:
            return self._why_not
        done = self._runner.run(script(_WHY_NOT))
        said = answer(done, "looking for what cuts a node off", self._runner.where)
        if lacking := said.all("lacks"):
            names = ", ".join(lacking)
            return f"node `{self._node}`: {self._runner.where} lacks {names} (Debian: {_PACKAGES})"
        if denied := said.get("denied"):
            return f"node `{self._node}`: nft may do nothing on {self._runner.where}: {denied}"
        return ""

    def cut(
        self, addresses: Sequence[str], undo_after_s: float | None, spared: Sequence[str] = ()
    ) -> Proof:
        """Cut it off from the machines of these `host:port`; the switch is armed before.

        All of them are cut or none, which the kernel's rules prove. Raises `Refused` where one is
        an address of the node's own machine or one of `spared`, over which we come.
        """
        if reason := self.why_not():
            raise Unsupported(reason)
        peers = list(dict.fromkeys(each.rpartition(":")[0].strip("[]") for each in addresses))
        if not peers:
            raise ConfigurationError(f"node `{self._node}`: there is nobody to cut it off from")
        before = set(self.cut_off())
        limit_s = undo_after_s or self._undo_after_s
        done = self._runner.run(script(_CUT, f"{limit_s:g}", " ".join(spared), *peers))
        if done.status == _REFUSED:
            raise Refused(f"node `{self._node}` is not cut off: {last_words(done.errors, 1)}")
        said = answer(done, "cutting the node off", self._runner.where)
        wanted, there = said.all("wanted"), said.all("cut")
        if missing := sorted(set(wanted) - set(there)):
            raise HostError(f"node `{self._node}` is not cut off from {', '.join(missing)}")
        switch = {"undo_after_s": limit_s, "undo_pid": said.number("switch")}
        evidence = {"state": "cut off", "from": wanted, **switch}
        return self._proof(done, evidence, set(wanted) <= before)

    def join(self) -> Proof:
        """Let it reach everybody again, and end the switch."""
        done = self._runner.run(script(_JOIN))
        said = answer(done, "joining the node again", self._runner.where)
        if left := said.all("cut"):
            raise HostError(f"node `{self._node}` is still cut off from {', '.join(left)}")
        return self._proof(done, {"state": "joined"}, not said.all("was"))

    def cut_off(self) -> list[str]:
        """Return the addresses that it is cut off from now."""
        if self._why_not:
            return []
        done = self._runner.run(script(_SHOW))
        return answer(done, "looking at the node's rules", self._runner.where).all("cut")

    def would(self, act: str) -> str:
        """Return what `partition` or `join` would change."""
        if act == "join":
            return f"{self._runner.where}: nft delete table {TABLE}"
        return (
            f"{self._runner.where}: drop what comes from the other members and goes to them, "
            f"by nft in table {TABLE}"
        )

    def _proof(self, done: Completed, evidence: dict[str, Any], already: bool) -> Proof:
        effective, uncertainty_s = bracket(done, answer(done, "cutting", self._runner.where))
        return Proof(effective, uncertainty_s, evidence, already=already)


def disarm(runner: Runner) -> None:
    """End every switch in the network namespace that `runner` runs scripts in."""
    answer(runner.run(script(_DISARM)), "ending the dead man's switch", runner.where)
