"""Make the series of this directory again: `python make_published.py`. Nothing in it is random."""

import csv
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent


def write(name: str, step_s: int, rates: Iterable[float]) -> None:
    """Write a row a step with what was served in it, at `rates` operations a second."""
    with (HERE / f"{name}.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["t", "ok"])
        for number, rate in enumerate(rates):
            rows.writerow([number * step_s, round(rate * step_s)])


def main() -> None:
    """Write every series."""
    # From 36,000 a second down to 7,192, and 40 s until all is as before.
    slump = [20_000, 7_192, *[8_000 + 600 * i for i in range(38)]]
    write("drop-80.0", 1, [36_000] * 90 + slump + [36_000] * 50)
    write("drop-15.4", 1, [149_000] * 90 + [126_000] * 60 + [149_000] * 30)
    # The best minute, the last, and nine alike between them that give the published mean.
    write("decay-5.0", 60, decaying(332_000, 316_000, 321_000))
    write("decay-38.8", 60, decaying(46_100, 32_200, 35_800))


def decaying(highest: float, last: float, mean: float) -> list[float]:
    """Return eleven minutes with these three figures."""
    return [highest, *[(11 * mean - highest - last) / 9] * 9, last]


if __name__ == "__main__":
    main()
