"""What became of a game day, step by step: plain data, and the verdict that it makes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["DONE", "Record", "StepRecord", "verdict_of"]

#: Verdicts after which a step is done; any other is made again by `--resume`.
DONE = ("pass", "fail", "inconclusive")


@dataclass(slots=True)
class StepRecord:
    """One experiment of the day. `run` is its directory; `reasons` are those of its verdict.

    A step whose `status` is `running` in the record of a day that died was lost.
    """

    name: str
    experiment: str
    variables: dict[str, Any]
    status: Literal["waiting", "running", "over"] = "waiting"
    verdict: str = ""
    run: str = ""
    began: str = ""
    ended: str = ""
    reasons: list[str] = field(default_factory=list)

    def begin(self, now: str) -> None:
        """It begins, perhaps once more."""
        self.status, self.began, self.ended = "running", now, ""
        self.verdict, self.run, self.reasons = "", "", []

    def end(self, now: str, verdict: str, run: Path | None, reasons: Iterable[str]) -> None:
        """It is over."""
        self.status, self.ended, self.verdict = "over", now, verdict
        self.run, self.reasons = str(run) if run else self.run, [str(each) for each in reasons]

    @property
    def done(self) -> bool:
        """Whether it has a verdict that counts."""
        return self.status == "over" and self.verdict in DONE


@dataclass(slots=True)
class Record:
    """A game day. Times are ISO 8601; `notes` are what was said of it, each with its time.

    `inventory` is what the game day calls its cluster, `inventory_path` the file that this meant.
    `brought_up` says that the day started the cluster, a lab, and takes it down; `proof` is what
    the state of the cluster proved at the end. `died` says that the day's process ended without
    concluding it; `ended` is then when that was noticed.
    """

    name: str
    title: str
    cluster: str
    inventory: str
    file: str
    seed: int
    steps: list[StepRecord]
    began: str
    ended: str = ""
    verdict: str = ""
    stopped: str = ""
    brought_up: bool = False
    unmended: str = ""
    proof: str = ""
    notes: list[str] = field(default_factory=list)
    inventory_path: str = ""
    died: bool = False
    schema_version: int = 1

    @property
    def inventory_file(self) -> str:
        """What names the inventory from any folder."""
        return self.inventory_path or self.inventory

    @property
    def remaining(self) -> list[StepRecord]:
        """The steps that are still to be made, in their order."""
        return [step for step in self.steps if not step.done]


def verdict_of(record: Record) -> str:
    """Return the day's word: the worst that counts, and never a pass where a step is missing.

    A limit that was broken counts also where a person stopped the day afterwards.
    """
    verdicts: Sequence[str] = [step.verdict for step in record.steps]
    if record.unmended:
        return "not put back"
    if "fail" in verdicts:
        return "fail"
    if record.died:
        return "died"
    if record.stopped or "aborted" in verdicts:
        return "aborted"
    return "pass" if all(verdict == "pass" for verdict in verdicts) else "inconclusive"
