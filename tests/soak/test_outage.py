"""Half an hour of a 90 % outage: the generator neither grows, nor slows, nor loses count.

Nine of ten servers are gone, three each in one of the ways in which servers go: they freeze,
refuse connections, or never answer. BROWNOUT_SOAK_OUTAGE_S makes it shorter or longer; CI runs
ten seconds of the same in tests/loadgen/test_memory.py.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
from tests.loadgen.driving import check_identities, measure, rows, stream, verified

from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines

OUTAGE_S = float(os.environ.get("BROWNOUT_SOAK_OUTAGE_S", "1800"))
BEGIN_S, AFTER_S = 2.0, 6.0
RATES = {"app": 300, "orders": 100}
GONE = {"freeze": (0, 1, 2), "refuse": (3, 4, 5), "silence": (6, 7, 8)}
LANES = 10
#: The driver's slots per lane, and goroutines for all else: readers and writers of each, us.
CAP, OTHERS = 64, 100

pytestmark = [pytest.mark.soak, pytest.mark.timeout(OUTAGE_S + 300)]


@dataclass(frozen=True)
class Second:
    """What the generator said of itself in one second."""

    t: float
    rss_mb: float
    goroutines: int


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    effects = [
        {"at": BEGIN_S, "for": OUTAGE_S, "effect": effect, "lane": lane}
        for effect, lanes in GONE.items()
        for lane in lanes
    ]
    streams = [
        stream(rate=RATES["app"], deadline_s=0.5),
        verified(rate=RATES["orders"], deadline_s=0.5),
    ]
    directory = tmp_path_factory.mktemp("outage")
    seconds = BEGIN_S + OUTAGE_S + AFTER_S
    return measure(directory, seconds, {"lanes": LANES, "effects": effects}, streams=streams).run


def seconds_of(run: Path) -> list[Second]:
    """Return the seconds of the outage, but for its first tenth, in which queues fill."""
    found = [
        Second(row.t, float(row["rss_mb"]), row.n("goroutines"))
        for row in rows(run / "generator.csv")
    ]
    return [s for s in found if BEGIN_S + OUTAGE_S / 10 < s.t < BEGIN_S + OUTAGE_S - 1]


def test_memory_and_goroutines_are_flat(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = seconds_of(run)
    tenth = len(seconds) // 10
    assert tenth >= 1
    first, last = seconds[:tenth], seconds[-tenth:]
    rss = [median(s.rss_mb for s in part) for part in (first, last)]
    goroutines = [median(s.goroutines for s in part) for part in (first, last)]
    with capsys.disabled():
        print(
            f"{OUTAGE_S:g} s of outage: memory {rss[0]:.1f} MB in its first tenth, {rss[1]:.1f} MB "
            f"in its last, at most {max(s.rss_mb for s in seconds):.1f} MB; "
            f"goroutines {goroutines[0]:g}, {goroutines[1]:g}, "
            f"at most {max(s.goroutines for s in seconds)}"
        )
    assert rss[1] < 1.1 * rss[0] + 4
    assert max(s.rss_mb for s in seconds) < 1.5 * rss[0] + 8
    # Slots of a lane are started when they are first needed and then kept, at most its cap.
    assert max(s.goroutines for s in seconds) < LANES * CAP + OTHERS


def test_the_identities_hold_in_every_row(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_identities(run)
    names = ("series.csv", "outcomes.csv", "lanes.csv")
    counts = {name: (run / name).read_bytes().count(b"\n") - 1 for name in names}
    with capsys.disabled():
        print(f"every sum agrees in {counts}")
    assert counts["series.csv"] == counts["outcomes.csv"] >= 30 * OUTAGE_S


def test_as_much_is_offered_in_every_tenth_of_a_second(run: Path) -> None:
    offered: dict[str, dict[str, int]] = {name: {} for name in RATES}
    for row in rows(run / "series.csv"):
        of_stream = offered[row["stream"]]
        of_stream[row["t"]] = of_stream.get(row["t"], 0) + row.n("offered")
    for name, rate in RATES.items():
        whole = list(offered[name].values())[:-1]  # the last is cut where the load was stopped
        assert set(whole) == {rate / 10}


def test_one_operation_in_ten_is_served_throughout(run: Path) -> None:
    """By tenths of the outage: a generator that wears out serves less in the later ones."""
    offered, ok = [0] * 10, [0] * 10
    for row in rows(run / "outcomes.csv"):
        part = int((row.t - BEGIN_S - 1) / (OUTAGE_S - 2) * 10 // 1)
        if 0 <= part < 10 and row.t > BEGIN_S + 1:
            offered[part] += row.n("offered") - row.n("missed")
            ok[part] += row.n("ok")
    for part in range(10):
        assert ok[part] / offered[part] == pytest.approx(1 / LANES, abs=0.05)


def test_no_promise_is_broken_by_half_an_hour_of_doubt(run: Path) -> None:
    ledger = classify(read_ledger_lines(run / "ledger.ndjson"))
    assert (ledger.state, ledger.lost, ledger.unexpected) == ("clean", 0, 0), ledger.detail
    assert ledger.keys == 400
