"""Join the ledgers of several generators: what each was promised, and what each read back.

A register has one owner, who wrote, was promised of and reads it. A counter may be added to by
all: its promises are added up, and one of them reads it. Balances of votes add up side by side.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from brownout.base.errors import RunDirectoryError
from brownout.run.ledger import SIDES
from brownout.run.shape import is_count

__all__ = ["join"]

Line = Mapping[str, Any]
_ADDED = ("acked", "acked_n", "in_doubt_n", "failed_n", "applied_n", "absent_n", "remade_n")


def join(parts: Sequence[Iterable[Line]]) -> Iterator[Line]:
    """Yield the lines of one ledger: keys, reads, balances, and the end if every part has one.

    Only the names of the keys, the counters and the balances are kept in memory. Raises
    `RunDirectoryError` for a register that two generators say is theirs.
    """
    seen: set[tuple[str, str]] = set()
    counters: dict[tuple[str, str], dict[str, Any]] = {}
    balances: dict[tuple[str, str], list[Line]] = {}
    ends: list[Line] = []
    for lines in parts:
        for line in lines:
            if "key" in line:
                yield from _promise(line, seen, counters)
            elif "check" in line:
                named = str(line["check"]), str(line.get("stream", ""))
                balances.setdefault(named, []).append(line)
            elif line.get("end"):
                ends.append(line)
            else:
                yield line
    yield from counters.values()
    yield from (_balance(sides) for sides in balances.values() if len(sides) == len(parts))
    if parts and len(ends) == len(parts):
        yield _end(ends)


def _promise(
    line: Line, seen: set[tuple[str, str]], counters: dict[tuple[str, str], dict[str, Any]]
) -> Iterator[Line]:
    """Give a register's line on; add a counter's to what is known of it."""
    at = str(line.get("stream", "")), str(line["key"])
    if line.get("kind") == "counter":
        known = counters.setdefault(at, {**line, **dict.fromkeys(_ADDED, 0)})
        for name in _ADDED:
            known[name] += int(line.get(name, 0))
        return
    if at in seen:
        raise RunDirectoryError(
            f"ledger.ndjson: two generators say that they wrote `{at[1]}` of {at[0]}; wanted one"
        )
    seen.add(at)
    yield line


def _balance(lines: Sequence[Line]) -> Line:
    sides = {
        name: {field: sum(int(line[name][field]) for line in lines) for field in lines[0][name]}
        for name in SIDES
    }
    return {**lines[0], **sides}


def _end(ends: Sequence[Line]) -> Line:
    return {
        "end": True,
        "keys": sum(int(end.get("keys", 0)) for end in ends),
        "read": sum(end["read"] for end in ends if is_count(end.get("read"))),
        "sampled": any(end.get("sampled") for end in ends),
    }
