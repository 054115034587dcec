"""The lines of `ledger.ndjson`: what was promised, what was read back, and that it was all.

{"key": "…", "stream": "orders", "kind": "register", "acked": 9, "acked_n": 8, …}
{"read": "…", "stream": "orders", "seq": 9, …}
{"check": "votes", "total": {"found": 9, "acked": 9, "in_doubt": 0}, "choices": …, "records": …}
{"record": "k0000000007", "missing": true}
{"record": "k0000000008", "missing": false, "corrupt": true}
{"data": "data", "keys": 2000, "read": 2000, "missing": 1, "corrupt": 1, "unread": 0, …}
{"garbled": "answers", "answers": 68, "keys": 40, "corrupt": 1, "unread": 0, "sampled": false}
{"copies": "compared", "servers": ["10.0.0.1:6379", …], "keys": 2400, "compared": 2400, …}
{"diverged": "k0000000009", "copies": {"10.0.0.1:6379": "missing", …}}
{"reads": "orders", "lane": "10.0.0.1:6379", "guarantee": "session", "checked": 900, "stale": 1, …}
{"stale": "…", "stream": "orders", "lane": "10.0.0.1:6379", "t": 31.2, "seq": 8, "acked": 9, …}
{"history": "orders", "registers": 60, "operations": 4812, "nonlinearizable": 1, "unknown": 0, …}
{"nonlinearizable": "…", "stream": "orders", "lane": "…", "t": 31.2, "operation": "read 5", …}
{"end": true, "keys": 400, "read": 400, "sampled": false}
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brownout.run.copies import is_compared
from brownout.run.copies import is_sound as is_sound_of_copies
from brownout.run.histories import is_of_history
from brownout.run.histories import is_sound as is_sound_of_history
from brownout.run.ledger import SIDES
from brownout.run.reads import is_of_reads
from brownout.run.reads import is_sound as is_sound_of_reads
from brownout.run.shape import is_count, is_ranges

__all__ = ["read_ledger_lines"]

_COUNTS = (
    "acked", "acked_n", "in_doubt_n", "failed_n", "applied_n", "absent_n", "remade_n", "keys",
)  # fmt: skip
_RANGES = ("in_doubt", "failed")


def read_ledger_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of `ledger.ndjson`; what is torn or not as wanted is passed over.

    What is passed over is missed: a key without its read is unread, and the end counts the keys.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict) and _is_sound(line):
                yield line


def _is_sound(line: Mapping[str, Any]) -> bool:
    """Say whether every number of a line is one, and none is missing."""
    if not all(is_count(line[name]) for name in _COUNTS if name in line):
        return False
    if not all(is_ranges(line[name]) for name in _RANGES if name in line):
        return False
    if is_compared(line):
        return is_sound_of_copies(line)
    if is_of_reads(line):
        return is_sound_of_reads(line)
    if is_of_history(line):
        return is_sound_of_history(line)
    if "check" in line:
        return all(_is_side(line.get(name)) for name in SIDES)
    if "data" in line:
        return all(is_count(line.get(name)) for name in ("keys", "read", "unread"))
    if "garbled" in line:
        return all(is_count(line.get(name)) for name in ("answers", "unread"))
    if "known" in line and not is_ranges([line["known"]]):
        return False
    if not isinstance(line.get("refused", {}), dict):
        return False
    if not all(map(_is_unacked_read, line.get("unacked_reads", ()))):
        return False
    if "key" in line:
        return "acked" in line and "acked_n" in line
    if "read" in line and "stream" in line:
        return any(name in line for name in ("error", "missing")) or _says_what_was_read(line)
    return True


def _is_unacked_read(each: Any) -> bool:
    return (
        isinstance(each, dict)
        and isinstance(each.get("lane"), str)
        and all(is_count(each.get(name)) for name in ("seq", "n"))
    )


def _is_side(side: Any) -> bool:
    names = ("found", "acked", "in_doubt")
    return isinstance(side, dict) and all(is_count(side.get(name)) for name in names)


def _says_what_was_read(line: Mapping[str, Any]) -> bool:
    """A register has a sequence, a counter a value; one that is corrupt may have neither."""
    if line.get("checksum_ok") is False:
        return True
    numbers = [line[name] for name in ("seq", "value") if name in line]
    return bool(numbers) and all(isinstance(n, int) and abs(n) < 2**62 for n in numbers)
