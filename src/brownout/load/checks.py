"""What two settings of a workload mean for each other, as pure functions over the raw mapping.

They run on data that may be malformed elsewhere and look only at what they understand, so that a
person sees every problem of a file at once instead of one layer after the other.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brownout.base.problems import Problem
from brownout.load.model_checks import is_named, model_problems
from brownout.load.workload_base import is_number
from brownout.load.workload_fields import SCOPES, HotSet, Records
from brownout.load.workload_models import implied_mix

__all__ = ["cross_problems"]

#: The scopes that every measure has; a stream of that name would hide one.
RESERVED_NAMES = ("total", "read", "write")

MAX_STREAMS = 64

DEFAULT_KEYS: int = Records.model_fields["keys"].default
DEFAULT_HOT_KEYS: float = HotSet.model_fields["hot_keys"].default

#: What a mix adds up to.
WHOLES = (100, 1)

#: The operations that count as reads; all others are writes.
READS = frozenset({"read", "batch"})


def cross_problems(raw: Mapping[str, Any]) -> list[Problem]:
    """Return what contradicts or lacks its other half in a workload's raw settings."""
    streams = raw.get("streams")
    if not isinstance(streams, list):
        return []
    found = [
        *_set_problems(raw.get("data"), streams),
        *_name_problems(streams),
        *_load_problems(raw.get("data"), streams),
        *_sla_problems(raw.get("sla"), streams),
        *model_problems(streams),
    ]
    if not 1 <= len(streams) <= MAX_STREAMS:
        found.append(Problem(("streams",), f"found {len(streams)}, wanted 1 to {MAX_STREAMS}"))
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
            yield Problem(place, f"found {name!r} again, wanted a name of its own")


def _set_problems(data: Any, streams: list[Any]) -> Iterator[Problem]:
    """Several data sets stand in place of the one, each has a name, and streams go by it."""
    data = data if isinstance(data, Mapping) else {}
    sets = data.get("sets")
    sets = sets if isinstance(sets, list) else []
    names = [each.get("name") for each in sets if isinstance(each, Mapping)]
    if sets:
        for setting in sorted({"keys", "value_bytes", "fields", "compress_to"} & set(data)):
            yield Problem(("data", setting), "found beside sets, wanted it in each of the sets")
    for index, name in enumerate(names):
        if names.index(name) < index:
            place = ("data", "sets", index, "name")
            yield Problem(place, f"found {name!r} again, wanted a name of its own")
    for index, stream in enumerate(streams):
        wanted = stream.get("set", "") if isinstance(stream, Mapping) else ""
        if wanted and wanted not in names:
            known = f"one of {', '.join(map(str, names))}" if names else "no set: there is one"
            yield Problem(("streams", index, "set"), f"found {wanted!r}, wanted {known}")
        yield from _hot_set(index, stream, _keys_of(data, sets, wanted))


def _keys_of(data: Mapping[str, Any], sets: list[Any], name: Any) -> Any:
    """Return how many keys the set of that name has; None where that cannot be said."""
    if not sets:
        return data.get("keys", DEFAULT_KEYS)
    chosen = [s for s in sets if isinstance(s, Mapping) and name in ("", s.get("name"))]
    return chosen[0].get("keys", DEFAULT_KEYS) if chosen else None


def _hot_set(index: int, stream: Any, keys: Any) -> Iterator[Problem]:
    """A share of the keys that is less than one key cannot be hot."""
    choice = stream.get("keys") if isinstance(stream, Mapping) else None
    if not isinstance(choice, Mapping) or choice.get("distribution") != "hot-set":
        return
    keys = stream.get("ledger_keys", keys) if stream.get("verified") is True else keys
    share = choice.get("hot_keys", DEFAULT_HOT_KEYS)
    if not is_number(keys) or not is_number(share) or not 0 < share < 1 or keys < 1:
        return
    if keys * share < 1:
        text = (
            f"found {share:g}, which of {keys:,} keys is less than one, wanted {1 / keys:g} or more"
        )
        yield Problem(("streams", index, "keys", "hot_keys"), text)


def _load_problems(data: Any, streams: list[Any]) -> Iterator[Problem]:
    """A ledger starts from a state that the load phase has written."""
    verified = any(isinstance(s, Mapping) and s.get("verified") is True for s in streams)
    if verified and isinstance(data, Mapping) and data.get("load") is False:
        yield Problem(("data", "load"), "found false; a verified stream's keys have to be loaded")


def _sla_problems(sla: Any, streams: list[Any]) -> Iterator[Problem]:
    """A limit needs a stream, and operations of that stream, that it can be measured on."""
    if not isinstance(sla, Mapping):
        return
    mixes: dict[str, Any] = {
        s["name"]: implied_mix(s) or s.get("mix") for s in streams if is_named(s)
    }
    for name, limits in sla.items():
        if name not in mixes:
            wanted = ", ".join(mixes)
            yield Problem(("sla", name), f"no stream is called so, wanted one of {wanted}")
        elif isinstance(limits, Mapping) and isinstance(mixes[name], Mapping):
            yield from _unmeasured(str(name), limits, set(mixes[name]))


def _unmeasured(name: str, limits: Mapping[str, Any], operations: set[str]) -> Iterator[Problem]:
    """Yield the limits on what a stream does not do, on which no SLA can ever be judged."""
    reads = operations & READS
    done = {
        "total",
        *operations,
        *(["read"] if reads else []),
        *(["write"] * (operations != reads)),
    }
    for what in limits:
        if what in SCOPES and what not in done:
            wanted = ", ".join(sorted(done))
            yield Problem(("sla", name, what), f"the stream does no {what}, wanted one of {wanted}")


def _pace(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """Open loop (`rate`) or closed loop (`concurrency`), never both; a reader follows."""
    if "rate" in stream and "concurrency" in stream:
        yield Problem(("concurrency",), "found beside rate, wanted one of rate, concurrency")
    if "rate" not in stream and "concurrency" not in stream and "reader" not in stream:
        yield Problem((), "no pace, wanted one of rate (open loop), concurrency (closed loop)")
    if "arrivals" in stream and "rate" not in stream and "concurrency" in stream:
        yield Problem(("arrivals",), "found without rate; a closed loop has no schedule")


def _ledger(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """`ledger_keys` and `verified` need each other."""
    verified = stream.get("verified", False)
    modelled = implied_mix(stream) is not None
    if verified is True and "ledger_keys" in stream and modelled:
        yield Problem(("ledger_keys",), "found beside a model, from which the keys follow")
    if verified is True and "ledger_keys" not in stream and not modelled:
        yield Problem(("ledger_keys",), "missing; a verified stream says how many keys it has")
    if verified is False and "ledger_keys" in stream:
        yield Problem(("ledger_keys",), "found without verified: true; remove it or verify")


def _verified_mix(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """A ledger's keys are there from the start, and something has to be written to them."""
    mix = stream.get("mix")
    if stream.get("verified") is not True or not isinstance(mix, Mapping):
        return
    if implied_mix(stream) is not None:
        return
    if "insert" in mix:
        yield Problem(("mix", "insert"), "a verified stream has fixed keys, wanted update")
    elif not {"update", "increment", "operate"} & set(mix):
        wanted = "update, operate or increment"
        yield Problem(("mix",), f"a verified stream without writes, wanted {wanted}")


def _mix_sum(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """Percent add up to 100, shares to 1: what does not is a slip of the pen."""
    mix = stream.get("mix")
    if not isinstance(mix, Mapping) or not mix or not all(map(is_number, mix.values())):
        return
    total = sum(mix.values())
    if min(mix.values()) > 0 and not any(
        math.isclose(total, whole, rel_tol=1e-6) for whole in WHOLES
    ):
        yield Problem(("mix",), f"adds up to {total:g}, wanted 100 (percent), or 1 (shares)")


_STREAM_CHECKS: tuple[Callable[[Mapping[str, Any]], Iterator[Problem]], ...] = (
    _pace,
    _ledger,
    _verified_mix,
    _mix_sum,
)
