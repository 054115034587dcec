"""Play a finished run back into another directory, up to a moment, as if it were going on."""

import json
from pathlib import Path

__all__ = ["Replay"]

COUNTS = ("series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "generator.csv")
LAST = ("journal.json", "impact.json", "ledger.json", "ledger.ndjson")


class Replay:
    """The run in `source`, as much of it as has happened, in `target`."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source, self._target = source, target
        target.mkdir(parents=True, exist_ok=True)
        (target / "run.json").write_bytes((source / "run.json").read_bytes())

    def until(self, t: float) -> Path:
        """Write what has happened up to `t` seconds; return the directory."""
        for name in COUNTS:
            header, *rows = (self._source / name).read_text().splitlines(keepends=True)
            self._write(name, header + "".join(r for r in rows if float(r.split(",")[0]) < t))
        self._write("latency.hlog", "".join(self._intervals(t)))
        self._write("events.ndjson", "".join(self._events(t)))
        return self._target

    def end(self) -> Path:
        """Write all of it, with the results."""
        self.until(float("inf"))
        for name in LAST:
            if (self._source / name).exists():
                (self._target / name).write_bytes((self._source / name).read_bytes())
        return self._target

    def _intervals(self, t: float) -> list[str]:
        lines = (self._source / "latency.hlog").read_text().splitlines(keepends=True)
        return [x for x in lines if not x.startswith("Tag=") or float(x.split(",")[1]) + 1 <= t]

    def _events(self, t: float) -> list[str]:
        lines = (self._source / "events.ndjson").read_text().splitlines(keepends=True)
        return [line for line in lines if (json.loads(line)["t"] or 0.0) <= t]

    def _write(self, name: str, text: str) -> None:
        (self._target / name).write_text(text)
