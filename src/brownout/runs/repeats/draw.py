"""What differs from repeat to repeat: drawn from one seed, so that all can be made again. Pure."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Draw", "draws"]

_SEEDS = 1_000_000
#: Targets that are not one of the members; `role=secondary` and its like are several.
NO_NODE = ("spare", "rack", "=")


@dataclass(frozen=True, slots=True)
class Draw:
    """One repeat: its seed, and the variables that it is run with, as `--var` has them."""

    number: int
    seed: int
    variables: tuple[str, ...]


def draws(
    experiment: Mapping[str, Any], n: int, seed: int, phase_max_s: float, given: tuple[str, ...]
) -> list[Draw]:
    """Return `n` draws for an experiment; variables that are `given` are not drawn.

    The target is any node, except where only one can be meant, as of a stepdown, or several are,
    as of a lost majority. The phase is how long the fault waits after the accepted baseline: up to
    `phase_max_s`.
    """
    taken = {text.partition("=")[0].partition(":")[0] for text in given}
    chance = random.Random(seed)
    drawings = []
    for number in range(1, n + 1):
        own, phase = chance.randrange(1, _SEEDS), round(chance.uniform(0.0, phase_max_s), 1)
        wanted = {"seed": f"seed:int={own}", "phase_s": f"phase_s:float={phase}"}
        if _any_node(experiment):
            wanted["target"] = "target=random"
        drawn = [text for name, text in wanted.items() if name not in taken]
        drawings.append(Draw(number, own, (*given, *drawn)))
    return drawings


def _any_node(experiment: Mapping[str, Any]) -> bool:
    target = experiment.get("configuration", {}).get("target")
    default = target.get("default") if isinstance(target, Mapping) else target
    if any(word in str(default) for word in NO_NODE):
        return False
    extensions = experiment.get("extensions", [])
    needs = [need for extension in extensions for need in extension.get("needs", ())]
    return "stepdown" not in needs
