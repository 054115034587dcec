"""The copies of what the load wrote: what every server has stored itself, compared key by key.

A read of the majority says what is acknowledged. It does not say whether the next failover would
lose it: for that every copy has to be alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.run.shape import is_count

__all__ = ["Copies", "copies_of", "is_compared", "is_sound"]

Line = Mapping[str, Any]
_COUNTS = ("keys", "compared", "alone", "diverged", "unread")
#: So many keys whose copies differ are kept by name.
_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Copies:
    """What comparing came to; all numbers are keys, records of the data set included.

    Of `compared` ones two servers or more returned their copy, `alone` ones are stored on one
    server only, and of `unread` ones a server did not answer (`error`). The copies of `diverged`
    ones are not all alike. `examples` has some of these, with each server's copy.
    """

    servers: tuple[str, ...] = ()
    keys: int = 0
    compared: int = 0
    alone: int = 0
    diverged: int = 0
    unread: int = 0
    error: str = ""
    examples: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The least and the most keys whose copies differ; None where none was compared."""
        if not self.compared and not self.diverged:
            return None
        return self.diverged, min(self.keys, self.diverged + self.unread)

    @property
    def words(self) -> str:
        """`the copies of 25,000 keys on 3 servers are alike`."""
        servers = f"{len(self.servers)} server{'s' * (len(self.servers) != 1)}"
        if self.diverged:
            words = f"the copies of {self.diverged:,} of {_keys(self.keys)} on {servers} differ"
            words += "".join(f"; {_shown(each)}" for each in self.examples[:1])
        elif self.compared:
            of = "" if self.compared == self.keys else f"{self.compared:,} of "
            words = f"the copies of {of}{_keys(self.keys)} on {servers} are alike"
        else:
            words = "no copies were compared"
        if self.alone:
            is_or_are = "is" if self.alone == 1 else "are"
            words += f"; {_keys(self.alone)} {is_or_are} stored on one server only"
        if self.unread:
            words += f"; {_keys(self.unread)} could not be compared ({self.error})"
        return words


def _keys(count: int) -> str:
    return f"{count:,} key{'s' * (count != 1)}"


def _shown(example: Mapping[str, Any]) -> str:
    """`k0000000007: missing on a:6379; sequence 1 … on b:6379`."""
    copies = [f"{copy} on {server}" for server, copy in sorted(example["copies"].items())]
    return f"{example['key']}: {'; '.join(copies)}"


def is_compared(line: Line) -> bool:
    """Whether a line of the ledger is about copies: their sums, or one key whose copies differ."""
    return "copies" in line


def is_sound(line: Line) -> bool:
    """Whether every number of such a line is one, and none is missing."""
    if line["copies"] == "compared":
        servers = line.get("servers")
        named = isinstance(servers, list) and all(isinstance(each, str) for each in servers)
        return named and all(is_count(line.get(name)) for name in _COUNTS)
    return isinstance(line["copies"], dict) and isinstance(line.get("diverged"), str)


def copies_of(lines: Sequence[Line]) -> Copies | None:
    """Return what the lines of all generators say together; None where nothing was compared."""
    sums = [line for line in lines if line["copies"] == "compared"]
    if not sums:
        return None
    keys = [line for line in lines if line["copies"] != "compared"][:_EXAMPLES]
    return Copies(
        servers=tuple(sorted({server for line in sums for server in line["servers"]})),
        **{name: sum(int(line[name]) for line in sums) for name in _COUNTS},
        error=next((str(line["error"]) for line in sums if line.get("error")), ""),
        examples=tuple({"key": each["diverged"], "copies": dict(each["copies"])} for each in keys),
    )
