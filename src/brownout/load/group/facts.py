"""How well several generators kept together, and which was lost: `parts.json` of a run.

    {"of": 2, "parts": [
      {"index": 0, "where": "load1.example.com", "late_s": 0.0002, "start_s": 0.0,
       "start_uncertainty_s": 0.0004, "end_s": 0.0, "end_uncertainty_s": 0.0006,
       "lost_t": null, "lost": null}, …]}

It is written at the start and again at the end, since it is recorded nowhere else: `brownout
analyze` reads it to judge the run again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from brownout.run.metadata import write_json
from brownout.run.parts.paths import FACTS

__all__ = ["PartFacts", "write_facts"]


@dataclass(slots=True)
class PartFacts:
    """One generator.

    `late_s` is how long after its moment it began, by its own clock. `start_s` is how much later
    than the first generator's its schedule began, by the comparison of the clocks at the start,
    `end_s` by that at the end, when they may have drifted apart; each may be off by its
    uncertainty. `lost` says why it was lost and `lost_t` when it was last heard of, by the run's
    clock. None is what is not known.
    """

    index: int
    where: str
    late_s: float | None = None
    start_s: float | None = None
    start_uncertainty_s: float | None = None
    end_s: float | None = None
    end_uncertainty_s: float | None = None
    lost_t: float | None = None
    lost: str | None = None


def write_facts(directory: Path, parts: Sequence[PartFacts]) -> None:
    """Replace `parts.json` of the run at `directory`."""
    document = {"of": len(parts), "parts": [asdict(part) for part in parts]}
    write_json(directory / FACTS, document)
