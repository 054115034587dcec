"""An outage of any length costs no memory.

Hours of it are simulated in the Go tests; this is the real process for some seconds.
"""

from pathlib import Path

import pytest
from tests.loadgen.driving import check_identities, measure, rows, stream, verified

pytestmark = pytest.mark.live


def test_memory_is_flat_through_an_outage(tmp_path: Path) -> None:
    kinds = enumerate(("freeze", "refuse", "silence"))
    effects = [{"at": 1, "for": 60, "effect": kind, "lane": lane} for lane, kind in kinds]
    streams = [stream(rate=1500, deadline_s=0.5), verified(deadline_s=0.5)]
    script = {"lanes": 3, "effects": effects}
    run = measure(tmp_path, 10, script, streams=streams).run
    check_identities(run)
    memory = [float(row["rss_mb"]) for row in rows(run / "generator.csv")]
    goroutines = [row.n("goroutines") for row in rows(run / "generator.csv")]
    assert len(memory) >= 9
    assert max(memory[7:]) < max(memory[3:6]) * 1.25 + 8
    assert max(goroutines) < 1000  # nobody answers 1,500 operations a second
