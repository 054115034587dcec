"""How well the generators of one run kept together, from its `generator.json`. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
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


def apart_of(generator: Mapping[str, Any]) -> Apart | None:
    """Return it of a run's `generator.json`; None where one generator was alone."""
    parts = generator.get("parts")
    if not parts:
        return None
    lost = [lost_words(part, len(parts)) for part in parts if part.get("lost") is not None]
    return Apart(len(parts), generator.get("apart_s"), tuple(lost))


def generator_name(index: int, of: int, where: str) -> str:
    """Return what a generator is called: `generator 2 of 3 (load2.example.com)`."""
    return f"generator {index + 1} of {of} ({where})"


def lost_words(part: Mapping[str, Any], of: int) -> str:
    """Say which generator was lost, when it was last heard of, and why."""
    name = generator_name(int(part.get("index", 0)), of, str(part.get("where", "")))
    t = part.get("lost_t")
    when = f", last heard of at {t:.1f} s" if is_time(t) else ""
    return f"{name} was lost{when}: {part['lost']}"
