"""One repeat: an experiment run to its end with what was drawn for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.runs.repeats.draw import Draw
from brownout.session.experiment_process import ExperimentProcess, Outcome

__all__ = ["Repeat", "run_once"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat that is over."""

    draw: Draw
    outcome: Outcome

    @property
    def directory(self) -> Path | None:
        """Where its run lies, if it opened one."""
        return self.outcome.directory

    @property
    def impact(self) -> Mapping[str, Any] | None:
        """Its impact.json, or None where it never opened a run."""
        return self.outcome.impact

    @property
    def unmended(self) -> str | None:
        """Why no other may follow."""
        return self.outcome.unmended

    @property
    def verdict(self) -> str:
        """The run's verdict; `not run` where there is none."""
        return self.outcome.verdict

    @property
    def target(self) -> str:
        """The node that was broken."""
        return str((self.impact or {}).get("experiment", {}).get("target") or "–")


def run_once(experiment: Path, draw: Draw) -> Repeat:
    """Run `experiment` to its end with what was drawn. Its words go where ours go, to stderr."""
    with ExperimentProcess(experiment, draw.variables) as process:
        return Repeat(draw, process.outcome())
