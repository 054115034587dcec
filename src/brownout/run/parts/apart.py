"""How well the generators of one run kept together, from `parts.json`. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from brownout.run.shape import is_time

__all__ = ["MOST_APART_S", "Apart", "apart_of", "generator_name", "lost_words"]

#: Half a bucket: what is further apart is counted in another one.
MOST_APART_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Apart:
    """How many generators there were, and how far apart their schedules were at worst.

    `seconds` has what is not known of the clocks counted against it, and how late each began after
    its moment; None where a generator does not say. `lost` says of each that was lost what is
    known.
    """

    of: int
    seconds: float | None
    lost: tuple[str, ...]

    @property
    def together(self) -> bool:
        """Whether their buckets may be added up."""
        return self.seconds is not None and self.seconds <= MOST_APART_S

    def words(self) -> str:
        """Return how far apart they were, beside how far they may be."""
        if self.seconds is None:
            return f"it is not known how far {self.of} generators were apart"
        return (
            f"{self.of} generators within {self.seconds * 1000:.1f} ms of each other, "
            f"at most {MOST_APART_S * 1000:g} ms"
        )


def apart_of(facts: Mapping[str, Any]) -> Apart | None:
    """Return it of a `parts.json`; None of an empty one, where one generator was alone."""
    if not facts:
        return None
    parts = facts["parts"]
    kept = [part for part in parts if part.get("lost") is None]
    late = [part.get("late_s") for part in parts]
    at = [_spread(parts, "start"), _spread(kept, "end")]
    known = [seconds for seconds in at if seconds is not None]
    whole = len(known) == len(at) and all(map(is_time, late))
    seconds = round(max(known) + max(map(float, late)), 6) if whole else None
    lost = [lost_words(part, len(parts)) for part in parts if part.get("lost") is not None]
    return Apart(len(parts), seconds, tuple(lost))


def _spread(parts: Sequence[Mapping[str, Any]], when: str) -> float | None:
    """Return the most by which two schedules were apart, at the start or at the end."""
    said = [(part.get(f"{when}_s"), part.get(f"{when}_uncertainty_s")) for part in parts]
    known = [(later, off) for later, off in said if is_time(later) and is_time(off)]
    if not known or len(known) < len(said):
        return None
    return (
        max(abs(one[0] - other[0]) + one[1] + other[1] for one, other in combinations(known, 2))
        if len(known) > 1
        else 0.0
    )


def generator_name(index: int, of: int, where: str) -> str:
    """Return what a generator is called: `generator 2 of 3 (load2.example.com)`."""
    return f"generator {index + 1} of {of} ({where})"


def lost_words(part: Mapping[str, Any], of: int) -> str:
    """Say which generator was lost, when it was last heard of, and why."""
    name = generator_name(int(part.get("index", 0)), of, str(part.get("where", "")))
    t = part.get("lost_t")
    when = f", last heard of at {t:.1f} s" if is_time(t) else ""
    return f"{name} was lost{when}: {part['lost']}"
