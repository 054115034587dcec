"""The histories of registers: whether everything that was done to each fits into one order.

A register is linearizable if its operations can be put in one order, each at one moment between its
start and its end, in which every read returns the last write before it. The generator checks that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.run.shape import is_count, is_time

__all__ = ["Histories", "histories_of", "is_of_history", "is_sound"]

Line = Mapping[str, Any]
_COUNTS = ("registers", "operations", "nonlinearizable", "unknown")
#: So many registers are kept one by one.
_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Histories:
    """What checking came to; all numbers but `operations` and `seconds` are registers.

    Of `unknown` ones it could not be told (`why`). `seconds` is how long the checking took.
    `examples` has some of the `nonlinearizable` ones: when the first operation ended that fits into
    no order, what it was, its lane, and the file of the run directory that shows it.
    """

    streams: tuple[str, ...] = ()
    registers: int = 0
    operations: int = 0
    nonlinearizable: int = 0
    unknown: int = 0
    why: str = ""
    seconds: float = 0.0
    examples: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most registers that were not linearizable."""
        return self.nonlinearizable, self.nonlinearizable + self.unknown

    @property
    def words(self) -> str:
        """`all 60 registers of orders were linearizable, in 4,812 operations`."""
        of = f"{self.registers:,} registers of {', '.join(self.streams)}"
        words = f"in {self.operations:,} operations"
        if self.nonlinearizable:
            words = f"{self.nonlinearizable:,} of {of} were not linearizable, {words}"
            words += "".join(f"; {shown(each)}" for each in self.examples[:1])
        elif self.unknown:
            words = f"{self.registers - self.unknown:,} of {of} were linearizable, {words}"
        else:
            words = f"all {of} were linearizable, {words}"
        if self.unknown:
            words += f"; of {self.unknown:,} it is not known: {self.why}"
        return words


def shown(example: Line) -> str:
    """`orders:r00000007 until 31.2 s, when n1:27017 answered: read 5`."""
    at = f"{example['key']} until {example['t']:.3f} s"
    return f"{at}, when {example['lane']} answered: {example['operation']}"


def is_of_history(line: Line) -> bool:
    """Whether a line of the ledger is about histories: those of a stream, or one register."""
    return "nonlinearizable" in line


def is_sound(line: Line) -> bool:
    """Whether every number of such a line is one, and none is missing."""
    if "history" in line:
        return (
            isinstance(line["history"], str)
            and all(is_count(line.get(name)) for name in _COUNTS)
            and is_time(line.get("seconds"))
        )
    texts = ("nonlinearizable", "stream", "lane", "operation", "drawing")
    return all(isinstance(line.get(name), str) for name in texts) and is_time(line.get("t"))


def histories_of(lines: Sequence[Line]) -> Histories | None:
    """Return what the lines of all generators say together; None where nothing was checked."""
    sums = [line for line in lines if "history" in line]
    if not sums:
        return None
    broken = sorted((line for line in lines if "history" not in line), key=lambda line: line["t"])
    rest = ("stream", "lane", "t", "operation", "drawing")
    return Histories(
        streams=tuple(sorted({line["history"] for line in sums})),
        **{name: sum(int(line[name]) for line in sums) for name in _COUNTS},
        why=next((str(line["why"]) for line in sums if line.get("why")), ""),
        seconds=sum(float(line["seconds"]) for line in sums),
        examples=tuple(
            {"key": each["nonlinearizable"], **{name: each[name] for name in rest}}
            for each in broken[:_EXAMPLES]
        ),
    )
