"""One experiment as `chaos run` in a process of its own, and what it left.

Chaos Toolkit keeps its controls in a global and wants the main thread, so each of several
experiments runs as a process of its own.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from brownout.base.errors import RunDirectoryError, UndoFailed
from brownout.base.leash import leashed
from brownout.base.scratch import scratch
from brownout.base.termination import Terminated
from brownout.faults import open_runs
from brownout.faults.open_runs import Claim
from brownout.measure.document import read_impact
from brownout.measure.impact import Impact
from brownout.run.directory import RunDirectory
from brownout.run.metadata import OCCASION

__all__ = ["ExperimentProcess", "Outcome", "variable"]

STDERR = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a process that is over left. `impact` is None where no run was opened.

    `unmended` says why no other may follow: something is still broken, or may be.
    """

    directory: Path | None
    impact: Impact | None
    unmended: str | None

    @property
    def verdict(self) -> str:
        """The run's verdict; `not run` where there is none."""
        return self.impact.verdict if self.impact else "not run"

    @property
    def was_aborted(self) -> bool:
        """Whether a person, a stop condition or a safeguard ended the run, whatever its verdict."""
        return self.impact is not None and self.impact.was_aborted


def variable(name: str, value: Any) -> str:
    """Return a variable as `chaos run --var` takes it, with its type."""
    return f"{name}={value}" if isinstance(value, str) else f"{name}:json={json.dumps(value)}"


class ExperimentProcess:
    """`chaos run` of `experiment`; a context, whose process has ended when it is left.

    `variables` are as `--var` has them, `controls` is a file for `--control-file`. Its words go
    where ours go, to stderr. `occasion` is what the run is a part of, for the history.

    Whatever ends this process ends the run too, which first puts everything back: a signal is
    passed on once and its end is awaited, and where this process dies the run's leash tells it.
    A terminal's Ctrl-C reaches the run only through us, since a second one would cut it short.
    Where a run that was ended so leaves something broken, `UndoFailed` is raised in its place.
    """

    def __init__(
        self,
        experiment: Path,
        variables: Sequence[str] = (),
        controls: Path | None = None,
        occasion: str = "",
    ) -> None:
        self._place = ExitStack()
        self._journal = self._place.enter_context(scratch("experiment")) / "journal.json"
        command = [*leashed("chaostoolkit"), "--no-version-check", "--log-file", os.devnull,
                   "run", "--journal-path", str(self._journal)]  # fmt: skip
        command += ["--control-file", str(controls)] if controls else []
        command += [part for text in variables for part in ("--var", text)]
        environment = {**os.environ, **({OCCASION: occasion} if occasion else {})}
        # Not sys.stderr: within a test that may be an object without a file.
        self.process = subprocess.Popen(
            [*command, str(experiment)], stdout=STDERR, env=environment, start_new_session=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> None:
        if kind is not None:
            self.end(kind)
        while True:
            try:
                self.process.wait()
                break
            except KeyboardInterrupt as again:
                self.end(type(again))
        with self._place:
            if kind is not None and issubclass(kind, KeyboardInterrupt):
                self._raise_if_unmended()

    def end(self, kind: type[BaseException]) -> None:
        """Have the run end as we are ending, by an exception of this `kind`; without a wait."""
        by_hand = issubclass(kind, KeyboardInterrupt) and not issubclass(kind, Terminated)
        self.process.send_signal(signal.SIGINT if by_hand else signal.SIGTERM)

    def claim(self) -> Claim | None:
        """Return the claim of our run; None while it has no cluster in its hands."""
        return next((claim for claim in open_runs.claims() if self._has_made(claim)), None)

    def outcome(self) -> Outcome:
        """Wait for the end and return what there is of it."""
        self.process.wait()
        report = self._report()
        directory = Path(str(report["run"])) if report.get("run") else None
        return Outcome(directory, _impact_of(directory), self._unmended(report))

    def _raise_if_unmended(self) -> None:
        if unmended := self._unmended(self._report()):
            raise UndoFailed(
                f"the run was stopped, and something is still broken: {unmended}",
                "`brownout heal` it",
            )

    def _unmended(self, report: Mapping[str, Any]) -> str | None:
        """Return what our process, which is over, has left broken."""
        left = [claim.run for claim in open_runs.claims() if self._has_made(claim)]
        if report.get("undo_failed"):
            return "; ".join(map(str, report["undo_failed"]))
        return f"the run {left[0]} died before it had put everything back" if left else None

    def _has_made(self, claim: Claim) -> bool:
        """Whether our process made a claim; other runs on other clusters may begin beside it.

        Process ids repeat, also in other containers that share our state; a journal is one run's.
        """
        return claim.kind == "run" and str(self._journal) in claim.command

    def _report(self) -> Mapping[str, Any]:
        """Return what our control left in the journal; nothing where it never came to that."""
        try:
            journal = json.loads(self._journal.read_text(encoding="utf-8"))
            return dict(journal.get("brownout") or {})
        except (OSError, ValueError):
            return {}


def _impact_of(directory: Path | None) -> Impact | None:
    if directory is None:
        return None
    try:
        return read_impact(RunDirectory.open(directory))
    except RunDirectoryError:
        return None
