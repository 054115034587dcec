"""Where the files of several generators of one run lie: those of each in `parts/<index>/`."""

from pathlib import Path
from typing import Final

__all__ = ["FACTS", "PARTS", "part_directories"]

PARTS: Final = "parts"
#: What only those who drove the generators know: how well they kept together, who was lost.
FACTS: Final = "parts.json"


def part_directories(directory: Path, generators: int) -> list[Path]:
    """Return the directory of each generator of a run; of one that is alone, the run's own."""
    if generators == 1:
        return [directory]
    return [directory / PARTS / str(index) for index in range(generators)]
