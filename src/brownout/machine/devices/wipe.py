"""Emptying a block device that was checked, and reading back that it is empty."""

from dataclasses import dataclass
from typing import Any

from brownout.base.errors import HostError
from brownout.machine.commands import Answer, Runner, answer, script
from brownout.machine.devices.facts import Facts
from brownout.machine.moments import bracket

__all__ = ["METHODS", "SCRIPTS", "Emptied", "empty", "regions"]

_MIB = 1 << 20
#: A device up to this size is read back whole, a larger one in samples.
_WHOLE = 1024 * _MIB
_END = 64 * _MIB
_SAMPLES = 64

#: The fast one first. A discard promises nothing about what is read afterwards, so each is
#: followed by reading back, and the next one is tried if there is anything left.
METHODS = ("blkdiscard", "blkdiscard -z", "dd")

#: `$1` device `$2` its number `$3` its size `$4` method, further: `offset length` to read back.
_EMPTY = r"""
device=$1; size=$3; method=$4
set_number() { set -- $(stat -L -c '0x%t 0x%T' -- "$1") && number=$(($1)):$(($2)); }
set_number "$device"
[ "$number" = "$2" ] || { echo "it is another device now ($number)" >&2; return 1; }
shift 4
stamp began
stamp last_no
case $method in
dd) dd if=/dev/zero of="$device" bs=4M iflag=count_bytes count="$size" oflag=direct conv=fsync \
      2>&1 | tail -n 1 >&2;;
*) words=$($method "$device" 2>&1) || {
      # It opens the device exclusively: who holds it now came after the checks.
      case $words in *busy*) echo "$words" >&2; return 1;; esac
      echo "refused $(echo "$words" | tail -n 1)"; return 0
    };;
esac
sync
stamp first_yes
blockdev --flushbufs "$device" || return 1
while [ $# -ge 2 ]; do
  cmp -s -i "$1:0" -n "$2" "$device" /dev/zero
  case $? in
    0) ;;
    1) echo "left $1"; return 0;;
    *) echo "cmp cannot read it at $1" >&2; return 1;;
  esac
  shift 2
done
echo "zero yes"
stamp ended
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"empty-device": _EMPTY}


@dataclass(frozen=True, slots=True)
class Emptied:
    """One device that reads as zero; it did so by `effective`, on `time.monotonic()`."""

    facts: Facts
    method: str
    tried: tuple[str, ...]
    whole: bool
    effective: float
    uncertainty_s: float

    def evidence(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "device": str(self.facts.path),
            "real": self.facts.real,
            "number": self.facts.number,
            "size_bytes": self.facts.size_bytes,
            "method": self.method,
            "tried": list(self.tried),
            "read_back": "whole" if self.whole else "samples",
            "reads_zero": True,
        }


def empty(runner: Runner, facts: Facts, timeout_s: float) -> Emptied:
    """Empty a checked device by the fastest method after which it reads as zero.

    Raises `HostError` with what each method said if none does.
    """
    areas = [number for region in regions(facts.size_bytes) for number in region]
    tried: list[str] = []
    for method in METHODS:
        text = script(_EMPTY, facts.real, facts.number, facts.size_bytes, method, *areas)
        done = runner.run(text, timeout_s)
        reply = answer(done, f"{method} of `{facts.path}`", runner.where)
        if reply.get("zero") == "yes":
            whole = facts.size_bytes <= _WHOLE
            return Emptied(facts, method, tuple(tried), whole, *bracket(done, reply))
        tried.append(f"{method}: {_why(reply)}")
    raise HostError(
        f"`{facts.path}` on {runner.where} could not be emptied: {'; '.join(tried)}",
        "the device may be failing; its node must not be started on it as it is",
    )


def regions(size: int) -> list[tuple[int, int]]:
    """Return which `(offset, length)` of a device are read back.

    All of a small one; of a large one its two ends, where labels and headers are, and samples
    spread evenly between them.
    """
    if size <= _WHOLE:
        return [(0, size)]
    step = (size - 2 * _END) // _SAMPLES
    between = [(_END + index * step, _MIB) for index in range(_SAMPLES)]
    return [(0, _END), *between, (size - _END, _END)]


def _why(reply: Answer) -> str:
    if reply.all("refused"):
        return reply.get("refused") or "not supported"
    return f"not zero from byte {reply.get('left')} on"
