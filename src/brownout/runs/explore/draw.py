"""Schedules drawn from a seed: what was not tried yet comes first. Pure, but for `space_of`."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from random import Random
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import Adapter, Electing
from brownout.databases.choice import ROLES
from brownout.faults import registry
from brownout.faults.fault import NodeFault
from brownout.infra.lab import foreseen
from brownout.inventory.model import Cluster
from brownout.runs.explore.schedule import (
    OVERLAPPING,
    PROMOTED,
    REDUNDANT,
    WHENS,
    Schedule,
    Step,
    lasting,
    may_follow,
)
from brownout.session.targets import BROKEN

__all__ = ["Cell", "Space", "cells_of", "numbered", "schedules", "space_of"]

#: How many steps a schedule has, and how often.
_LENGTHS, _WEIGHTS = (2, 3, 4, 5), (5, 3, 2, 1)
_LASTS_S = (1.0, 2.0, 4.0, 8.0, 15.0)
#: Of the time after which the database elects: so long a fault outlasts the election.
_PAST_DETECTION = 1.5
_GAPS_S = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0)

#: The fault and role of a step, those of the one before it, and when it began.
Cell = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Space:
    """What may be drawn on a cluster.

    `faults` has what is drawn for each argument of each; `left_out` why each other fault is not.
    At most `max_down` nodes are broken at a time. A fault lasts one of `lasts_s` seconds, and a
    schedule's steps take `longest_s` seconds at most. With `elects`, steps may wait for another
    primary; without `while_degraded` each waits until the cluster is redundant, but for one of a
    node that is broken already.
    """

    faults: Mapping[str, Mapping[str, Sequence[Any]]]
    roles: tuple[str, ...]
    max_down: int = 1
    elects: bool = True
    longest_s: float = 60.0
    while_degraded: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    lasts_s: tuple[float, ...] = _LASTS_S


def space_of(
    cluster: Cluster,
    adapter: Adapter,
    only: Collection[str] = (),
    without: Collection[str] = (),
    longest_s: float = 60.0,
) -> Space:
    """Ask a cluster what may be drawn on it; `only` and `without` are names of faults.

    Raises `ConfigurationError` for an unknown name, and where nothing is left.
    """
    explored = {name: fault for name, fault in registry.faults().items() if fault.draws is not None}
    problems = [
        f"{option}: found {name!r}, wanted one of {', '.join(sorted(explored))}"
        for option, names in (("--only", only), ("--without", without))
        for name in names
        if name not in explored
    ]
    if problems:
        raise ConfigurationError(problems)
    drawn: dict[str, Mapping[str, Sequence[Any]]] = {}
    left_out: dict[str, str] = {}
    for name, fault in sorted(explored.items()):
        support = foreseen(cluster.lab, fault.act) if cluster.lab is not None else None
        if support is None or support.ok:
            support = fault.supports(cluster, adapter)
        if (only and name not in only) or name in without:
            left_out[name] = "not asked for"
        elif fault.act in cluster.guards.deny_acts:
            left_out[name] = "the inventory denies it"
        elif support is not None and not support.ok:
            left_out[name] = support.reason or "this cluster cannot do it"
        elif isinstance(fault, NodeFault) and (reason := _too_many(cluster, fault)):
            left_out[name] = reason
        else:
            drawn[name] = dict(fault.draws or {})
    if not drawn:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise ConfigurationError(f"cluster `{cluster.name}`: no fault is left to draw: {reasons}")
    there = {member.role for member in adapter.members()}
    roles = tuple(role for role in ROLES if role in there) or ("random",)
    return Space(
        drawn, roles, cluster.guards.max_nodes_down, isinstance(adapter, Electing), longest_s,
        cluster.lab is not None or cluster.guards.while_degraded,
        left_out,
        _lasts_s(adapter, longest_s),
    )  # fmt: skip


def _too_many(cluster: Cluster, fault: NodeFault) -> str:
    """Return why a fault of one node breaks more nodes than may be; empty if it does not."""
    most = cluster.guards.max_nodes_down
    for node in cluster.nodes:
        hit = [node, *fault.neighbours(cluster.nodes, node, {})]
        if len(hit) > most:
            names = ", ".join(each.name for each in hit)
            return f"it hits all nodes of a machine ({names}), and at most {most} may be broken"
    return ""


def _lasts_s(adapter: Adapter, longest_s: float) -> tuple[float, ...]:
    """Return how long faults last: also longer than the database waits until it elects."""
    detection = adapter.failure_detection() if isinstance(adapter, Electing) else None
    past_s = float(round(_PAST_DETECTION * detection.seconds)) if detection else 0.0
    return (*_LASTS_S, past_s) if _LASTS_S[-1] < past_s < longest_s else _LASTS_S


def is_allowed(space: Space, schedule: Schedule) -> bool:
    """Return whether a schedule is possible and never has more nodes down than allowed."""
    if not schedule.is_possible:
        return False
    return all(
        sum(step.node != BROKEN for step in lasting(schedule.steps[: number + 1])) <= space.max_down
        for number in range(len(schedule.steps))
    )


def schedules(space: Space, seed: int) -> Iterator[Schedule]:
    """Yield schedules for ever; the same for a space and a seed.

    A step is the more likely the more rarely its cell was drawn before.
    """
    drawn: Counter[Cell] = Counter()
    number = 0
    while True:
        number += 1
        schedule = _draw(space, Random(f"{seed} {number}"), drawn)
        drawn.update(cells_of(schedule))
        yield schedule


def numbered(
    space: Space, seed: int, share: int = 0, shares: int = 1
) -> Iterator[tuple[int, Schedule]]:
    """Yield the schedules of one of `shares` with their numbers, for ever."""
    return islice(enumerate(schedules(space, seed), 1), share, None, shares)


def cells_of(schedule: Schedule) -> list[Cell]:
    """Return what of the coverage a schedule is about, a cell for each step."""
    before = ["", *(_name(step) for step in schedule.steps)]
    return [
        (last, step.when, _name(step)) for last, step in zip(before, schedule.steps, strict=False)
    ]


def _name(step: Step) -> str:
    return f"{step.fault} {step.node}"


def _draw(space: Space, random: Random, drawn: Mapping[Cell, int]) -> Schedule:
    (length,) = random.choices(_LENGTHS, _WEIGHTS)
    steps: list[Step] = []
    while len(steps) < length:
        candidates = list(_candidates(space, steps, random))
        if not candidates:
            break
        cells = [cells_of(Schedule((*steps, step)))[-1] for step in candidates]
        (step,) = random.choices(candidates, [1 / (1 + drawn.get(cell, 0)) ** 2 for cell in cells])
        if steps and Schedule((*steps, step)).takes_s > space.longest_s:
            break
        steps.append(step)
    return Schedule(tuple(steps))


def _candidates(space: Space, before: Sequence[Step], random: Random) -> Iterator[Step]:
    """Yield each fault, role and moment that may come next, with a size and times drawn."""
    whens = WHENS if before else (REDUNDANT,)
    for fault, node, when in product(space.faults, (*space.roles, BROKEN), whens):
        if when == PROMOTED and not space.elects:
            continue
        if when != REDUNDANT and node != BROKEN and not space.while_degraded:
            continue
        if registry.find(fault).of_role not in ("", node):
            continue
        longest = before[-1].lasts_s if when in (OVERLAPPING, PROMOTED) else max(_GAPS_S) + 1
        gaps = [gap for gap in _GAPS_S if gap < longest] if before else [0.0]
        step = Step(
            fault,
            node,
            when,
            random.choice(gaps or [0.0]),
            random.choice(space.lasts_s),
            {name: random.choice(list(values)) for name, values in space.faults[fault].items()},
        )
        if not step.undo:
            step = Step(fault, node, when, step.gap_s, 0.0, step.arguments)
        if may_follow(before, step) and is_allowed(space, Schedule((*before, step))):
            yield step
