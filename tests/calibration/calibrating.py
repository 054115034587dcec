"""`brownout calibrate run` as a command."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Calibrated:
    """What the command said; `document` is its JSON."""

    code: int
    document: dict[str, Any]

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.document["rows"]
        return rows

    @property
    def words(self) -> str:
        """Every figure that is not within, or why it is not; each reason once."""
        bad = [row for row in self.rows if row["state"] in ("out", "unmeasured")]
        return "\n".join(dict.fromkeys(row["note"] or str(row) for row in bad))


def calibrate(*options: str, env: Mapping[str, str] | None = None) -> Calibrated:
    """Run the command to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "brownout", "calibrate", "run", "--json", *options],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return Calibrated(done.returncode, json.loads(done.stdout) if done.stdout else {})
