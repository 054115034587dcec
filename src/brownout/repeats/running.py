"""One repeat: `chaos run` in a process of its own, and what it left."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.errors import RunDirectoryError
from brownout.repeats.draw import Draw
from brownout.run.directory import RunDirectory
from brownout.session import open_runs

__all__ = ["Repeat", "run_once"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat that is over. `impact` is its impact.json, or None where it never opened a run.

    `unmended` says why no other may follow: something is still broken, or nobody knows.
    """

    draw: Draw
    directory: Path | None
    impact: Mapping[str, Any] | None
    unmended: str | None

    @property
    def verdict(self) -> str:
        """The run's verdict; `not run` where there is none."""
        return str(self.impact["verdict"]) if self.impact else "not run"

    @property
    def target(self) -> str:
        """The node that was broken."""
        return str((self.impact or {}).get("experiment", {}).get("target") or "–")


def run_once(experiment: Path, draw: Draw) -> Repeat:
    """Run `experiment` to its end with what was drawn. Its words go where ours go, to stderr."""
    before = {claim.run for claim in open_runs.claims()}
    with tempfile.TemporaryDirectory(prefix="brownout-repeat-") as place:
        journal = Path(place) / "journal.json"
        variables = [part for text in draw.variables for part in ("--var", text)]
        command = [sys.executable, "-m", "chaostoolkit", "--no-version-check", "--log-file",
                   os.devnull, "run", "--journal-path", str(journal), *variables]  # fmt: skip
        with subprocess.Popen([*command, str(experiment)], stdout=sys.stderr) as process:
            try:
                process.wait()
            except KeyboardInterrupt:  # the run heard it as well, and puts everything back
                process.wait()
                raise
        said = _said(journal)
    held = [claim.run for claim in open_runs.claims() if claim.run not in before]
    return _repeat(draw, said, held)


def _repeat(draw: Draw, said: Mapping[str, Any], held: list[str]) -> Repeat:
    directory = Path(str(said["run"])) if said.get("run") else None
    impact = None
    if directory is not None:
        try:
            impact = RunDirectory.open(directory).read_impact()
        except RunDirectoryError:
            impact = None
    unmended = None
    if said.get("undo_failed"):
        unmended = "; ".join(map(str, said["undo_failed"]))
    elif held:
        unmended = f"the run {held[0]} died before it had put everything back"
    return Repeat(draw, directory, impact, unmended)


def _said(journal: Path) -> Mapping[str, Any]:
    """Return what our control left in the journal; nothing where it never came to that."""
    try:
        return dict(json.loads(journal.read_text(encoding="utf-8")).get("brownout") or {})
    except (OSError, ValueError):
        return {}
