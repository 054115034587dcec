"""The table of repeats: a median or two outcomes, a dot for each, and what they cannot exclude."""

from tests.runs.gate.repeated import finished

from brownout.runs.repeats.table import render
from brownout.runs.run_set import Runs


def table_of(*blackouts: float, lost_writes: int = 0) -> str:
    runs = Runs(
        finished(n, blackout=value, lost_writes=lost_writes) for n, value in enumerate(blackouts)
    )
    return render(runs, ["pass"] * len(runs))


def test_two_outcomes_have_no_median_between_them() -> None:
    text = table_of(16.16, 32.25, 33.01, 32.79, 16.14)
    (row,) = (line for line in text.splitlines() if line.startswith("total outage"))
    assert "(2 of 5), " in row
    assert row.endswith("[     2     3]")


def test_what_the_repeats_cannot_exclude_is_said() -> None:
    text = table_of(2.0, 2.1, 2.2, 2.3, 2.4)
    assert "5 repeats: pass" in text
    assert "in 0 of 5 runs; at most 45 % of runs with 95 % confidence" in text
