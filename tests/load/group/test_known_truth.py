"""One generator's total and several generators' merged total are equal on the same script."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.load.group.known import DIP_AT, DIP_S, DIP_SHARE, SECONDS, measured
from tests.loadgen.driving import ENDS, check_identities, ledger, loss, rows

from brownout.measure.dips import below_ratio
from brownout.measure.settings import MeasureSettings
from brownout.run.latency import read_hlog
from brownout.run.ledger import classify
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.parts.merge import merge
from brownout.run.series import identity_violations, read_series

pytestmark = pytest.mark.quiet

#: A bucket of the schedule that all runs have.
BUCKETS = int(SECONDS * 10)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    place = tmp_path_factory.mktemp("many")
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((1, 3), pool.map(lambda n: measured(place, n), (1, 3)), strict=True))


def parts(run: Path) -> list[Path]:
    return [run / "parts" / str(index) for index in range(3)]


def total(run: Path, name: str, columns: tuple[str, ...], upto: float) -> Counter[Any]:
    sums: Counter[Any] = Counter()
    for row in rows(run / name):
        if row.t < upto:
            for column in columns:
                sums[row["t"], column] += row.n(column)
    return sums


def test_in_every_bucket_as_much_is_offered_of_each_stream(runs: dict[int, Path]) -> None:
    def offered(run: Path, name: str) -> Counter[tuple[str, str]]:
        sums: Counter[tuple[str, str]] = Counter()
        for row in rows(run / name):
            if row.t < SECONDS - 0.05:
                sums[row["t"], row["stream"]] += row.n("offered")
        return sums

    for name in ("series.csv", "outcomes.csv"):
        assert offered(runs[3], name) == offered(runs[1], name)
    assert len(offered(runs[3], "series.csv")) == BUCKETS * 3


def test_the_dip_is_as_deep_and_as_long(runs: dict[int, Path]) -> None:
    for run in runs.values():
        assert loss(run, DIP_AT + 0.1, DIP_AT + DIP_S - 0.1) == pytest.approx(DIP_SHARE, abs=0.02)
        table = read_series(run).outcomes
        # What a busy machine made a generator miss says nothing about the database.
        born = table.total("total", "offered") - table.total("total", "missed")
        below = below_ratio(born, table.total("total", "ok"), MeasureSettings())
        found = np.flatnonzero(below[:BUCKETS]) / 10
        assert found[0] == pytest.approx(DIP_AT, abs=0.11)
        assert found[-1] + 0.1 == pytest.approx(DIP_AT + DIP_S, abs=0.11)


def test_the_merged_files_are_the_sums_of_the_parts(runs: dict[int, Path]) -> None:
    run, end = runs[3], read_series(runs[3]).completion.end
    counted = ("offered", *ENDS, "retried", "pending")
    for name, columns in (
        ("series.csv", counted), ("outcomes.csv", ("offered", *ENDS)), ("errors.csv", ("n",)),
        ("lanes.csv", ("offered", "ok", "bad", "pending")),
    ):  # fmt: skip
        upto = SECONDS if name == "outcomes.csv" else end - 0.05
        added: Counter[Any] = Counter()
        for part in parts(run):
            added.update(total(part, name, columns, upto))
        assert total(run, name, columns, upto) == added, name
    assert identity_violations(read_series(run)) == 0
    check_identities(run)
    summary = json.loads((run / "generator.json").read_text())
    assert summary["ended"] is True
    for name in ("offered", *ENDS):
        assert summary[name] == sum(part[name] for part in summary["parts"])


def test_the_merged_histograms_are_the_sums_of_the_parts(runs: dict[int, Path]) -> None:
    whole = read_hlog(runs[3] / "latency.hlog", lambda _: True)
    of_parts = [read_hlog(part / "latency.hlog", lambda _: True) for part in parts(runs[3])]
    assert any(tag.endswith("/service") for tag in whole.tags)
    assert any(tag.endswith("/failed") for tag in whole.tags)
    for tag in {tag for log in of_parts for tag in log.tags}:
        for second in range(int(whole.end)):
            known = [log.between([tag], second, second + 1) for log in of_parts]
            added = sum(found.counts for found in known if found is not None)
            merged = whole.between([tag], second, second + 1)
            assert np.array_equal(0 if merged is None else merged.counts, added)


def test_every_verified_key_has_one_owner_and_the_merged_ledger_is_clean(
    runs: dict[int, Path],
) -> None:
    owned = [set(ledger(part)[0]) for part in parts(runs[3])]
    assert sorted(map(len, owned)) == [36, 38, 38]  # of 101 registers and 11 counters
    assert not owned[0] & owned[1]
    assert not (owned[0] | owned[1]) & owned[2]
    for run in runs.values():
        found = classify(read_ledger_lines(run / "ledger.ndjson"))
        assert (found.state, found.keys, found.read) == ("clean", 112, 112), found.detail
    assert owned[0] | owned[1] | owned[2] == set(ledger(runs[1])[0])


def test_the_files_are_made_again_of_the_parts(runs: dict[int, Path]) -> None:
    run = runs[3]
    names = [
        "series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "latency.hlog", "generator.csv",
        "generator.json", "ledger.ndjson",
    ]  # fmt: skip
    before = {name: (run / name).read_bytes() for name in names}
    for name in names:
        (run / name).unlink()
    merge(run)
    assert {name: (run / name).read_bytes() for name in names} == before


def test_the_generators_began_at_one_moment_and_say_how_sure_that_is(runs: dict[int, Path]) -> None:
    facts = json.loads((runs[3] / "parts.json").read_text())
    assert facts["of"] == 3
    for part in facts["parts"]:
        assert part["lost"] is None
        assert part["late_s"] >= 0
        assert part["start_uncertainty_s"] >= 0
        # By the machine's own clock, which all three read: what was measured holds.
        began = json.loads((runs[3] / "parts" / str(part["index"]) / "generator.json").read_text())
        first = json.loads((runs[3] / "parts" / "0" / "generator.json").read_text())
        truly = (began["t0_unix_ns"] - first["t0_unix_ns"]) / 1e9
        assert part["start_s"] == pytest.approx(truly, abs=part["start_uncertainty_s"] + 1e-4)
