"""What is compared of two trials. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.databases.aerospike.fidelity.trial import Bucket, Poll, Trial

__all__ = [
    "dip",
    "errors",
    "healthy_until",
    "last_error",
    "new_key",
    "redundant",
    "rejoined",
    "to_migrate",
    "worst_ms",
]

#: The part of the outage in which nothing changes: after the connections broke, before the new key.
_OUTAGE = (0.3, 1.7)


def healthy_until(trial: Trial) -> float | None:
    """Return until when every survivor still said that five nodes are stable, after the fault."""
    old = _old_key(trial)
    said = [p.t for p in _survivors(trial) if p.t > 0 and p.stable == old]
    return max(said, default=None)


def new_key(trial: Trial) -> float | None:
    """Return when the last survivor first said a new key."""
    old = _old_key(trial)
    return _last_first(trial, lambda p: p.t > 0 and p.key not in ("", "0", old), victim=False)


def rejoined(trial: Trial) -> float | None:
    """Return how long after its start the node was in one cluster with all others."""
    return _after_start(trial, lambda p: p.stable_but_migrating)


def redundant(trial: Trial) -> float | None:
    """Return how long after the start nothing was left to migrate on any node."""
    return _after_start(trial, lambda p: p.stable)


def to_migrate(trial: Trial) -> int:
    """Return how many migrations the node that came back had before it at most."""
    if trial.restarted is None:
        return 0
    return max((p.remaining for p in trial.polls if p.node == trial.victim), default=0)


def dip(trial: Trial, of: str) -> float:
    """Return `reads` or `writes` during the outage as a share of before."""
    before: list[int] = [getattr(b, of) for b in trial.buckets if -4 < b.t < -0.5]
    during: list[int] = [getattr(b, of) for b in trial.buckets if _OUTAGE[0] <= b.t <= _OUTAGE[1]]
    return (sum(during) / len(during)) / (sum(before) / len(before))


def last_error(trial: Trial) -> float | None:
    """Return the end of the last tenth of a second with an error in the ten seconds after."""
    failing = [b.t + 0.1 for b in trial.buckets if 0 <= b.t < 10 and _failures(b)]
    return max(failing, default=None)


def errors(trial: Trial) -> dict[str, float]:
    """Return each error's share of the writes that were due in the first 2.5 s, by code."""
    before = [b.writes for b in trial.buckets if -4 < b.t < -0.5]
    due = 25 * sum(before) / len(before)
    total: Counter[str] = Counter()
    for bucket in trial.buckets:
        if -0.2 < bucket.t < 10:
            total.update(_failures(bucket))
    return {code: count / due for code, count in total.most_common()}


def worst_ms(trial: Trial) -> float:
    """Return the slowest operation of the five seconds after the fault."""
    return max((b.worst_ms for b in trial.buckets if -0.2 < b.t < 5), default=0.0)


def _failures(bucket: Bucket) -> dict[str, int]:
    return {code: n for code, n in bucket.errors.items() if code != "missed"}


def _survivors(trial: Trial) -> list[Poll]:
    return [p for p in trial.polls if p.node != trial.victim]


def _old_key(trial: Trial) -> str:
    return next(p.key for p in trial.polls if p.key not in ("", "0"))


def _last_first(trial: Trial, holds: Callable[[Poll], bool], *, victim: bool) -> float | None:
    """Return when it first held on the last of the nodes; None if it never did on one of them."""
    polls: Sequence[Poll] = trial.polls if victim else _survivors(trial)
    first: dict[str, float] = {}
    for poll in polls:
        if holds(poll):
            first.setdefault(poll.node, poll.t)
    nodes = {poll.node for poll in polls}
    return max(first.values()) if first.keys() == nodes else None


def _after_start(trial: Trial, said: Callable[[Poll], str]) -> float | None:
    """Return how long after the start every node said one and the same key."""
    if trial.restarted is None:
        return None
    start = trial.restarted
    final = next((p.key for p in reversed(trial.polls) if p.key not in ("", "0")), "")
    at = _last_first(trial, lambda p: p.t > start and said(p) == final, victim=True)
    return None if at is None else at - start
