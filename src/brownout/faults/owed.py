"""What a broken node still waits for, in the order in which it is to be done. Pure.

In words, as `start_node then unquiesce_node`: a node that was quiesced and then stopped has to be
started before it can be asked to take its work back.
"""

__all__ = ["MENDS", "broke", "mended", "steps"]

#: Every mend that a node may wait for.
MENDS = frozenset(
    {
        *("heal_partition", "resume_node", "start_node", "undelay_node", "undrain_node"),
        "unquiesce_node",
    }
)

_THEN = " then "
#: A process is stopped or paused, never both: the later break takes the earlier one's place.
_OF_THE_PROCESS = ("resume_node", "start_node")


def broke(waiting: str, mend: str) -> str:
    """Return what a node that was `waiting` waits for once a break needs `mend` too."""
    rest = [step for step in steps(waiting) if step != mend]
    if mend not in _OF_THE_PROCESS:
        return _THEN.join([*rest, mend])
    return _THEN.join([mend, *(step for step in rest if step not in _OF_THE_PROCESS)])


def mended(waiting: str, mend: str) -> str:
    """Return what a node that was `waiting` still waits for after `mend`; empty for nothing."""
    return _THEN.join(step for step in steps(waiting) if step != mend)


def steps(waiting: str) -> list[str]:
    """Return each mend that a node is `waiting` for, the first to be done first."""
    return waiting.split(_THEN) if waiting else []
