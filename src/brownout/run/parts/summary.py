"""Make one `generator.json` of those of several generators. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from brownout.run.parts.apart import apart_of

__all__ = ["join_summaries"]

Document = Mapping[str, Any]
_ADDED = ("offered", "ok", "late", "failed", "in_doubt", "shed", "missed", "undrained",
          "identity_violations")  # fmt: skip
#: What is each generator's own.
_OWN = ("part", "pid")
#: What is the same of all stands once, at the top.
_SHARED = ("driver", "driver_settings", "loop", "version", "go")


def join_summaries(summaries: Sequence[Document], facts: Document) -> dict[str, Any]:
    """Return totals added up, the worst lag, and under `parts` each generator by itself.

    `facts` is `parts.json`; a generator that never wrote its summary has an empty one. The whole
    has `ended` only if every generator has, and none was lost.
    """
    told = [dict(one) for one in facts.get("parts", ())] or [
        {"index": index} for index in range(len(summaries))
    ]
    apart = apart_of(facts)
    first = next((summary for summary in summaries if summary), {})
    ended = all(one.get("ended") is True for one in summaries)
    ended = ended and bool(summaries) and not any(fact.get("lost") for fact in told)
    ends = [float(one["end_t"]) for one in summaries if one.get("end_t") is not None]
    return {
        **{name: value for name, value in first.items() if name not in _OWN},
        "host": ", ".join(dict.fromkeys(str(one["host"]) for one in summaries if "host" in one)),
        "lane_cap": sum(int(one.get("lane_cap") or 0) for one in summaries),
        "global_cap": sum(int(one.get("global_cap") or 0) for one in summaries),
        "ended": ended,
        "end_t": min(ends, default=None),
        **{name: sum(int(one.get(name) or 0) for one in summaries) for name in _ADDED},
        "lag_p99_ms": max((float(one.get("lag_p99_ms") or 0) for one in summaries), default=None),
        "apart_s": apart.seconds if apart is not None else None,
        "parts": [
            {**fact, **{name: value for name, value in one.items() if name not in _SHARED}}
            for fact, one in zip(told, summaries, strict=True)
        ],
    }
