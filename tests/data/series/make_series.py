"""Make the series of this directory again: `python make_series.py [DIRECTORY]`. Deterministic."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

Dip = tuple[float, float, float]  # start, length, depth
SEED = 4711
FAULT_AT = 60.0


def write_series(
    path: Path,
    random: np.random.Generator,
    dips: list[Dip],
    rate: float = 2000.0,
    variation: float = 0.02,
    seconds: int = 180,
) -> dict[str, Any]:
    """Write one series of Poisson arrivals at an autocorrelated rate; return what is true of it."""
    t = np.arange(seconds * 10) / 10
    served = np.ones(len(t))
    for start, length, depth in dips:
        served[(t >= start) & (t < start + length)] = 1 - depth
    wander = np.zeros(len(t))
    for i in range(1, len(t)):
        wander[i] = 0.8 * wander[i - 1] + random.normal(0, variation * 0.6)
    offered = random.poisson(rate / 10 * np.clip(1 + wander, 0.5, 1.5))
    ok = random.binomial(offered, np.clip(served, 0, 1))
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", "offered", "ok"])
        rows.writerows((f"{a:.1f}", int(b), int(c)) for a, b, c in zip(t, offered, ok, strict=True))
    return {"fault_at": FAULT_AT, "dips": dips, "lost": int((offered - ok).sum())}


def main(directory: Path) -> None:
    """Write every series and truth.json; the order matters, since all share one generator."""
    random = np.random.default_rng(SEED)
    truth: dict[str, Any] = {}

    def series(name: str, dips: list[Dip], true: dict[str, Any], **how: Any) -> None:
        truth[name] = {**write_series(directory / f"{name}.csv", random, dips, **how), **true}

    def alike(drop: float, recovery: float | None) -> dict[str, Any]:
        return {"tps_drop": drop, "mean_drop": drop, "recovery": recovery}

    series("dip40", [(60.3, 12.0, 0.4)], alike(0.4, 12.3))
    series("published-15", [(60.0, 5.0, 0.154)], alike(0.154, 5.0))
    series("published-80", [(60.0, 40.0, 0.8)], alike(0.8, 40.0))
    series("stop-1s", [(60.0, 1.0, 1.0)], {"tps_drop": 1.0, "recovery": 1.0})
    two = [(60.2, 2.0, 1.0), (75.0, 4.0, 0.3)]
    series("two-dips", two, {"tps_drop": 1.0, "recovery": 19.0})
    series("never-back", [(61.0, 999.0, 0.5)], alike(0.5, None))
    series("nothing", [], {"tps_drop": 0.0, "recovery": 0.0})
    series("noisy-80", [(60.1, 6.0, 0.8)], alike(0.8, 6.1), variation=0.08)
    series("slow-40", [(60.3, 12.0, 0.4)], alike(0.4, 12.3), rate=800.0)
    (directory / "truth.json").write_text(json.dumps(truth, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
