"""What two settings of a workload mean for each other, as pure functions over the raw mapping.

They run on data that may be malformed elsewhere and look only at what they understand, so that a
person sees every problem of a file at once instead of one layer after the other.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brownout.load.problems import Problem

__all__ = ["cross_problems"]

#: The scopes that every measure has; a stream of that name would hide one.
RESERVED_NAMES = ("total", "read", "write")

MAX_STREAMS = 64


def cross_problems(raw: Mapping[str, Any]) -> list[Problem]:
    """Return what contradicts or lacks its other half in a workload's raw settings."""
    streams = raw.get("streams")
    if not isinstance(streams, list):
        return []
    found = [*_name_problems(streams), *_load_problems(raw.get("data"), streams)]
    if not 1 <= len(streams) <= MAX_STREAMS:
        found.append(Problem(("streams",), f"found {len(streams)}; wanted 1 to {MAX_STREAMS}"))
    for index, stream in enumerate(streams):
        if isinstance(stream, Mapping):
            for check in _STREAM_CHECKS:
                found += [Problem(("streams", index, *p.place), p.text) for p in check(stream)]
    return found


def _name_problems(streams: list[Any]) -> Iterator[Problem]:
    names = [s.get("name") if isinstance(s, Mapping) else None for s in streams]
    counts = Counter(name for name in names if isinstance(name, str))
    for index, name in enumerate(names):
        place = ("streams", index, "name")
        if name in RESERVED_NAMES:
            reserved = ", ".join(RESERVED_NAMES)
            yield Problem(place, f"found {name!r}; {reserved} are the names of scopes")
        if isinstance(name, str) and counts[name] > 1 and names.index(name) < index:
            yield Problem(place, f"found {name!r} again; wanted a name of its own")


def _load_problems(data: Any, streams: list[Any]) -> Iterator[Problem]:
    """A ledger starts from a state that the load phase has written."""
    verified = any(isinstance(s, Mapping) and s.get("verified") is True for s in streams)
    if verified and isinstance(data, Mapping) and data.get("load") is False:
        yield Problem(("data", "load"), "found false; a verified stream's keys have to be loaded")


def _pace(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """Open loop (`rate`) or closed loop (`concurrency`), never both."""
    if "rate" in stream and "concurrency" in stream:
        yield Problem(("concurrency",), "found beside rate; wanted one of rate, concurrency")
    if "rate" not in stream and "concurrency" not in stream:
        yield Problem((), "no pace; wanted one of rate (open loop), concurrency (closed loop)")
    if "arrivals" in stream and "rate" not in stream and "concurrency" in stream:
        yield Problem(("arrivals",), "found without rate; a closed loop has no schedule")


def _ledger(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """`ledger_keys` and `verified` need each other."""
    verified = stream.get("verified", False)
    if verified is True and "ledger_keys" not in stream:
        yield Problem(("ledger_keys",), "missing; a verified stream says how many keys it has")
    if verified is False and "ledger_keys" in stream:
        yield Problem(("ledger_keys",), "found without verified: true; remove it or verify")


def _verified_mix(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """A ledger's keys are there from the start, and something has to be written to them."""
    mix = stream.get("mix")
    if stream.get("verified") is not True or not isinstance(mix, Mapping):
        return
    if "insert" in mix:
        yield Problem(("mix", "insert"), "a verified stream has fixed keys; wanted update")
    elif not {"update", "increment", "operate"} & set(mix):
        wanted = "update, operate or increment"
        yield Problem(("mix",), f"a verified stream without writes; wanted {wanted}")


_STREAM_CHECKS: tuple[Callable[[Mapping[str, Any]], Iterator[Problem]], ...] = (
    _pace,
    _ledger,
    _verified_mix,
)
