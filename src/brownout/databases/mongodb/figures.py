"""Figures of a replica set from its members' own words. Pure; silence is never a zero.

Each is `{"value": 1, "status": "measured", "nodes": {"n1": …}}`, or `no_data` with what is
`missing` in words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brownout.databases.adapter import Member

__all__ = [
    "elections",
    "elections_since",
    "members",
    "newest_terms",
    "primaries",
    "replication_lag",
]

Figure = dict[str, Any]


def primaries(roster: Sequence[Member]) -> Figure:
    """Return how many members are primary; a silent one may be, so then there is no number.

    Of two, as after a partition, the one with the older term has not noticed yet.
    """
    names = [member.node for member in roster if member.role == "primary"]
    terms = {name: term for name, term in _terms(roster).items() if name in names}
    return _figure(len(names), terms, _silent(roster))


def elections(roster: Sequence[Member], began: Mapping[str, int]) -> Figure:
    """Return how many terms began since the run did, of all sets; `began` is each one's term then.

    Every election begins a term, also one without a winner. One member
    that answers is enough: it knows the newest term.
    """
    now = newest_terms(member.detail for member in roster)
    missing = [f"no member of {_name(of)} says its term" for of in began if of not in now]
    missing += [f"the term of {_name(of)} when the run began is not known"
                for of in now if of not in began]  # fmt: skip
    passed = sum(term - began.get(of, term) for of, term in now.items())
    return _figure(passed, _terms(roster), missing or ([] if now else ["no member says its term"]))


def elections_since(roster: Sequence[Member], at_start: Mapping[str, Any]) -> Figure:
    """Return how many elections were held since a run began, whose start was so (`evidence`)."""
    return elections(roster, newest_terms(at_start.get("members", {}).values()))


def replication_lag(roster: Sequence[Member], node: str = "") -> Figure:
    """Return by how many seconds the member that is furthest behind lags its primary, or `node`."""
    asked = [member for member in roster if node in ("", member.node)]
    lags = {member.node: member.lag_s for member in asked}
    missing = [f"{name} or its primary does not say" for name, lag in lags.items() if lag is None]
    measured = [lag for lag in lags.values() if lag is not None]
    return _figure(max(measured, default=0.0), lags, missing if lags else ["no member was asked"])


def members(roster: Sequence[Member]) -> Figure:
    """Return how many members serve, and each one's role, state and lag."""
    facts = {
        member.node: {
            "address": member.address,
            "role": member.role,
            "state": member.state,
            "healthy": member.healthy,
            "lag_s": member.lag_s,
        }
        for member in roster
    }
    return _figure(sum(member.healthy for member in roster), facts, [])


def newest_terms(details: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the newest term that any of these members' `detail` knows, by its set."""
    newest: dict[str, int] = {}
    for detail in details:
        if "term" in detail:
            of = str(detail["set"])
            newest[of] = max(newest.get(of, -1), int(detail["term"]))
    return newest


def _terms(roster: Sequence[Member]) -> dict[str, int]:
    return {m.node: int(m.detail["term"]) for m in roster if "term" in m.detail}


def _silent(roster: Sequence[Member]) -> list[str]:
    return [f"{member.node} is {member.state}" for member in roster if member.role == "unknown"]


def _name(of: str) -> str:
    return f"the set `{of}`"


def _figure(value: float, nodes: Mapping[str, Any], missing: Sequence[str]) -> Figure:
    if missing:
        return {"value": None, "status": "no_data", "nodes": dict(nodes), "missing": list(missing)}
    return {"value": value, "status": "measured", "nodes": dict(nodes)}
