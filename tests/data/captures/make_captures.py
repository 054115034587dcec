"""Cut the series of this directory out of the captures: `python make_captures.py CAPTURES`."""

import csv
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: Ours: whose it was, and the load.
NAMES = {
    "kill-wipe": "split-kill-wipe-n3",
    "kill": "split-kill-nowipe-n3",
    "term": "split-term-n3",
    "pause": "split-stop0.8s-n3",
    "kill-retries": "split-kill-wipe-retries-n3",
    "kill-one-loop": "open-kill-wipe-n3",
}
BEFORE_S, AFTER_S = 14.5, 15.0


def cut(source: Path, name: str, target: Path) -> float:
    """Write one series; return when the fault was, in seconds since its first row."""
    summary = (source / f"{name}.summary.txt").read_text()
    found = re.search(r"t_kill ([\d.]+)", summary)
    assert found, name
    fault_at = float(found[1])
    with (source / f"{name}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if _near(float(row["t_epoch"]) - fault_at)]
    first = float(rows[0]["t_epoch"])
    with target.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["t", "ok_read", "ok_write", "ok", "errors"])
        for row in rows:
            t = round(float(row["t_epoch"]) - first, 1)
            out.writerow([t, row["ok_read"], row["ok_write"], row["ok"], row["errors"]])
    return round(fault_at - first, 3)


def _near(t: float) -> bool:
    return -BEFORE_S <= t < AFTER_S


def main(source: Path) -> None:
    """Write every series, and when the fault was in each."""
    faults = {ours: cut(source, name, HERE / f"{ours}.csv") for ours, name in NAMES.items()}
    (HERE / "faults.json").write_text(json.dumps(faults, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
