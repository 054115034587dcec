"""What is missing until a cluster has reached a milestone, in words; waiting for it."""

import operator
from collections.abc import Callable, Iterable
from typing import get_args

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.wait import wait_until
from brownout.databases.adapter import Adapter, Milestone

__all__ = ["LOOK_AGAIN_WITHIN_S", "await_nothing", "missing_until", "still_unmet", "unmet"]

#: How long a write may take from the primary to the other members.
LOOK_AGAIN_WITHIN_S = 1.0

Words = list[str]
_MILESTONES: tuple[str, ...] = get_args(Milestone)


def missing_until(milestone: str, *steps: Callable[[], Iterable[str]]) -> Words:
    """Return what is missing until `milestone`, which includes those before it.

    `steps` say what is missing for rejoined, for redundant and for whole.
    """
    if milestone not in _MILESTONES:
        *others, last = _MILESTONES
        wanted = f"{', '.join(others)} or {last}"
        raise ConfigurationError(f"milestone: found {milestone!r}, wanted {wanted}")
    asked = steps[: _MILESTONES.index(milestone) + 1]
    return [words for step in asked for words in step()]


def unmet(adapter: Adapter, milestone: Milestone) -> Words:
    """Return what is wanted until `milestone` is reached; nothing, and never less, if it is.

    Raises `ClusterError` where the cluster does not answer.
    """
    state = adapter.stable(milestone)
    missing = [str(words) for words in state.detail.get("missing", [])]
    return [] if state.reached else missing or ["it does not say why"]


def await_nothing(
    ask: Callable[[], Words],
    within_s: float,
    say: Callable[[Words], None] = lambda _: None,
    poll_s: float = 0.5,
) -> Words:
    """Wait until nothing is missing; return what still is after `within_s` seconds.

    `say` gets what is missing each time that changes; of a cluster that does not answer, an answer.
    """
    before: Words = []

    def look() -> Words:
        try:
            missing = ask()
        except ClusterError as error:
            missing = [str(error)]
        nonlocal before
        if missing and missing != before:
            say(missing)
        before = missing
        return missing

    return wait_until(look, within_s, poll_s, so=operator.not_)


def still_unmet(adapter: Adapter, milestone: Milestone) -> Words:
    """Return what is wanted until `milestone` is reached, and still is when asked again.

    One look may fall between a write on the primary and its arrival on the other members. An idle
    replica set writes a no-op every 10 to 20 s, and for that moment they seem that far behind.
    """
    return await_nothing(lambda: unmet(adapter, milestone), LOOK_AGAIN_WITHIN_S, poll_s=0.1)
