"""Several load generators as one: `GeneratorGroup` is asked as a `Generator` is.

    with driven_from(places_for(cluster, directory), directory, on_live) as generator:
        generator.open(spec)

Each has its own process, place and files (`brownout.run.parts`); what they did is added up.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout.load.generator import Generator
from brownout.load.group.group import GeneratorGroup
from brownout.load.place import Place

__all__ = ["AnyGenerator", "GeneratorGroup", "driven_from"]

AnyGenerator = Generator | GeneratorGroup


def driven_from(
    places: Sequence[Place],
    directory: Path,
    on_live: Callable[[Mapping[str, Any]], None] | None = None,
) -> AnyGenerator:
    """Start a generator at each of `places`, for the run `directory`; one alone is itself.

    Raises `GeneratorError`; nothing is left then.
    """
    if len(places) == 1:
        return Generator(directory, on_live, places[0])
    return GeneratorGroup(directory, on_live, places)
