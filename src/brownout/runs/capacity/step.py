"""One step of a search: what was tried, what came of it; kept as a line of JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from brownout.base.errors import RunDirectoryError
from brownout.base.files import private_file
from brownout.runs.capacity.judgement import Figures, Judgement
from brownout.runs.capacity.search import Kind, Probe, Verdict

__all__ = ["Phase", "Step", "Steps", "step_of"]

#: With nothing broken, or with a node that goes and comes back.
Phase = Literal["whole", "faulted"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `rate` is the sum of all streams in operations a second; `run` its files.

    `detail` is what a step with a fault knows besides: how long which stream was down, and what
    was judged.
    """

    number: int
    phase: Phase
    rate: float
    kind: Kind
    verdict: Verdict
    reasons: tuple[str, ...]
    figures: tuple[Figures, ...]
    lag_p99_ms: float | None
    run: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def probe(self) -> Probe:
        """What it was the try of."""
        return Probe(self.rate, self.kind)

    @property
    def achieved(self) -> float | None:
        """Served ÷ offered, over all streams."""
        offered = sum(each.offered for each in self.figures)
        return sum(each.ok for each in self.figures) / offered if offered else None


def step_of(
    number: int,
    phase: Phase,
    probe: Probe,
    judgement: Judgement,
    figures: tuple[Figures, ...],
    lag_p99_ms: float | None,
    run: Path | None,
    detail: Mapping[str, Any] | None = None,
) -> Step:
    """Return the step that a probe came to."""
    return Step(number, phase, probe.rate, probe.kind, judgement.verdict, judgement.reasons,
                figures, lag_p99_ms, str(run or ""), detail or {})  # fmt: skip


class Steps:
    """The steps of a search in a file, a line each; each is there as soon as it is known."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, step: Step) -> None:
        """Keep a step, in place of a line that was torn when an earlier search was killed."""
        with private_file(self._file).open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(json.dumps(asdict(step)).encode() + b"\n")

    def read(self) -> list[Step]:
        """Return every step that was kept; a torn last line is ignored.

        Raises `RunDirectoryError` for a line in the middle that is not a step.
        """
        if not self._file.exists():
            return []
        lines = self._file.read_text(encoding="utf-8").split("\n")[:-1]
        try:
            return [_step(json.loads(line)) for line in lines]
        except (ValueError, TypeError, KeyError) as error:
            raise RunDirectoryError(
                f"{self._file}: is not as a search writes it: {error}"
            ) from None


def _step(data: Mapping[str, Any]) -> Step:
    figures = tuple(Figures(**each) for each in data["figures"])
    return Step(**{**data, "figures": figures, "reasons": tuple(data["reasons"])})
