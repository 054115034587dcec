"""`canary.csv` and `canary.json`: what an application beside the load saw of the database.

    t,op,took_us,waited_us,cause,code
    25.401882,write,30001220,312,ServerSelectionTimeoutError,

`t` is the intended start, `took_us` counts from there, of which `waited_us` passed before a thread
was free. `cause` is the client's own name of an error and empty for a success; what had not ended
when the canary was told to end has `unfinished` there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.run.csvfile import read_rows
from brownout.run.metadata import read_json

__all__ = ["HEADER", "UNFINISHED", "Call", "CanaryRecord", "call_line", "read_canary"]

HEADER = ("t", "op", "took_us", "waited_us", "cause", "code")
#: The cause of a call that had no end.
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Call:
    """One operation of the canary; times in seconds, `t` since the schedule's start."""

    t: float
    op: str
    took_s: float
    waited_s: float = 0.0
    cause: str = ""
    code: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended without an error, however late."""
        return not self.cause

    @property
    def end(self) -> float:
        """When it ended; of one without an end, when the wait was given up."""
        return self.t + self.took_s


@dataclass(frozen=True, slots=True)
class CanaryRecord:
    """What is on disk of a run's canary: how it was set and how it ended, and each call."""

    about: dict[str, Any]
    calls: tuple[Call, ...]


def call_line(call: Call) -> str:
    """Return a call as a line of the file."""
    cause, code = (text.replace(",", " ").replace("\n", " ") for text in (call.cause, call.code))
    took, waited = round(call.took_s * 1e6), round(call.waited_s * 1e6)
    return f"{call.t:.6f},{call.op},{took},{waited},{cause},{code}\n"


def read_canary(about: Path, calls: Path) -> CanaryRecord | None:
    """Return what the files say; None where the run had no canary.

    Raises `RunDirectoryError` for files of another shape.
    """
    if not about.exists():
        return None
    rows = tuple(
        Call(float(t), op, int(took) / 1e6, int(waited) / 1e6, cause, code)
        for t, op, took, waited, cause, code in read_rows(calls, HEADER)
    )
    return CanaryRecord(read_json(about), rows)
