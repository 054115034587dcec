"""Whatever the generators wrote, `loadgen merge` makes one load of it."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run

from brownout.base.binary import find_loadgen
from brownout.base.errors import RunDirectoryError
from brownout.judge.analysis import analyze
from brownout.measure.document import document_of
from brownout.run.hdr import decode
from brownout.run.ledger_lines import read_ledger_lines
from brownout.run.parts.apart import apart_of
from brownout.run.parts.merge import merge, merge_load
from brownout.run.parts.paths import part_directories

#: The files of three generators of one load as they wrote them, and what the code in Python that
#: `loadgen merge` replaced made of them: as they are, and where the third one was lost.
RECORDED = Path(__file__).parent / "recorded"
TABLES = ("series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "generator.csv")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return shutil.copytree(RECORDED / "run", tmp_path / "run")


def lose_the_third(run: Path) -> None:
    shutil.copy(RECORDED / "lost" / "parts.json", run / "parts.json")
    (run / "parts/2/generator.json").unlink()
    (run / "parts/2/ledger.ndjson").unlink()
    series = run / "parts/2/series.csv"
    text = series.read_text()
    series.write_text(text[: len(text) // 2])


def histograms(run: Path) -> list[Any]:
    """Each interval with its counts: zlib's own bytes are its affair."""
    found: list[Any] = []
    for line in (run / "latency.hlog").read_bytes().splitlines():
        head, _, payload = line.rpartition(b",")
        if head.startswith(b"Tag="):
            cells = decode([payload])
            found.append((head, cells.shape, cells.index.tolist(), cells.count.tolist()))
        else:
            found.append(line)
    return found


@pytest.mark.parametrize("wanted", ["merged", "lost"])
def test_recorded_parts_are_merged_as_they_were_when_this_was_python(
    recorded: Path, wanted: str
) -> None:
    if wanted == "lost":
        lose_the_third(recorded)
    merge(recorded)
    for name in TABLES:
        assert (recorded / name).read_bytes() == (RECORDED / wanted / name).read_bytes(), name
    assert histograms(recorded) == histograms(RECORDED / wanted)
    for run in (recorded, RECORDED / wanted):
        assert any(line.get("check") for line in read_ledger_lines(run / "ledger.ndjson")) == (
            wanted == "merged"
        )
    ledgers = [
        list(read_ledger_lines(run / "ledger.ndjson")) for run in (recorded, RECORDED / wanted)
    ]
    assert ledgers[0] == ledgers[1]
    summaries = [
        json.loads((run / "generator.json").read_text()) for run in (recorded, RECORDED / wanted)
    ]
    assert summaries[0] == summaries[1]
    assert list(summaries[0]) == list(summaries[1])


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("series.csv", "0.3,app,read,1,2", r"parts/1/series.csv, line 12: .* out of order"),
        ("errors.csv", "0.3,app,read,reset,x,many", r"parts/1/errors.csv, line 12: `n` is `many`"),
        ("lanes.csv", "0.3,n1,1", r"parts/1/lanes.csv, line 12: found 3 fields \(wanted 6\)"),
        ("generator.csv", "1.0,x,1,1,1,1,1", r"parts/1/generator.csv, line 2: `lag_p99_ms` is `x`"),
        ("latency.hlog", "Tag=a,1", r"parts/1/latency.hlog, line 12: is not an interval"),
        ("generator.json", '"offered": -1,', r"parts/1/generator.json: `offered` is -1 \(wanted a"),
    ],
)
def test_a_damaged_file_is_named_with_its_line_and_what_is_wanted(
    recorded: Path, name: str, line: str, found: str
) -> None:
    path = recorded / "parts" / "1" / name
    lines = path.read_text().splitlines()
    place = 1 if name == "generator.csv" else 11
    if name == "generator.json":
        place = next(number for number, text in enumerate(lines) if '"offered"' in text)
    lines[place] = line
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(RunDirectoryError, match=found):
        merge(recorded)


def test_a_damaged_histogram_is_named_with_its_line(recorded: Path) -> None:
    path = recorded / "parts" / "1" / "latency.hlog"
    path.write_text(path.read_text().replace("HISTF", "HISTG"))
    with pytest.raises(
        RunDirectoryError, match=r"parts/1/latency.hlog, line \d+: a histogram cannot"
    ):
        merge(recorded)


def test_series_of_different_streams_are_not_added(recorded: Path) -> None:
    path = recorded / "parts" / "1" / "series.csv"
    path.write_text(path.read_text().replace(",app,", ",web,"))
    with pytest.raises(RunDirectoryError, match=r"parts/1/series.csv: .* of different streams"):
        merge(recorded)


def test_a_register_has_one_owner(recorded: Path) -> None:
    key = next(
        line
        for line in (recorded / "parts/0/ledger.ndjson").read_text().splitlines()
        if '"register"' in line and '"key"' in line
    )
    with (recorded / "parts/1/ledger.ndjson").open("a") as file:
        file.write(key + "\n")
    with pytest.raises(RunDirectoryError, match="two generators say that they wrote `"):
        merge(recorded)
    assert not (recorded / "ledger.ndjson").exists()
    assert not list(recorded.glob(".*"))


def test_a_ledger_without_one_generators_end_has_none(recorded: Path) -> None:
    path = recorded / "parts" / "1" / "ledger.ndjson"
    path.write_text("".join(x for x in path.read_text().splitlines(True) if '"end"' not in x))
    merge(recorded)
    assert not any(line.get("end") for line in read_ledger_lines(recorded / "ledger.ndjson"))


def test_the_command_says_what_it_does_and_what_it_was_asked_wrongly() -> None:
    def said(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [find_loadgen(), "merge", *words], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, text = said("--help")
    assert code == 0
    assert "RUN/parts.json" in text
    assert said()[0] == 64
    assert said("--only", "x", ".")[0] == 64
    code, text = said("/nowhere")
    assert code == 1
    assert text.startswith("parts.json: is not there")


def facts(**second: Any) -> dict[str, Any]:
    first = {"index": 0, "where": "a", "late_s": 0.001, "start_s": 0.0, "start_uncertainty_s": 0.0,
             "end_s": 0.0, "end_uncertainty_s": 0.0, "lost": None, "lost_t": None}  # fmt: skip
    return {"of": 2, "parts": [first, {**first, "index": 1, "where": "b", **second}]}


@pytest.mark.parametrize(
    ("second", "seconds"),
    [
        ({}, 0.001),
        ({"start_s": 0.02}, 0.021),
        ({"start_s": -0.02, "late_s": 0.5}, 0.52),
        ({"end_s": 0.3, "end_uncertainty_s": 0.01}, 0.311),
        ({"late_s": None}, None),
        ({"start_s": None}, None),
        ({"end_s": None}, None),
        ({"end_uncertainty_s": None}, None),
        ({"end_s": None, "end_uncertainty_s": None, "lost": "gone", "lost_t": 3.21}, 0.001),
    ],
)
def test_generators_are_as_far_apart_as_they_may_be(
    recorded: Path, second: dict[str, Any], seconds: float | None
) -> None:
    (recorded / "parts.json").write_text(json.dumps(facts(**second)))
    found = apart_of(merge_load(recorded))
    assert found is not None
    assert found.seconds == seconds
    gone = ("generator 2 of 2 (b) was lost, last heard of at 3.2 s: gone",)
    assert found.lost == (gone if "lost" in second else ())
    assert apart_of({}) is None


def test_a_run_of_one_generator_is_left_as_it_is(tmp_path: Path) -> None:
    run = build_run(tmp_path, RunScript(duration_s=45.0))
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    merge(run)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_two_generators_of_half_the_rate_are_judged_as_one_of_the_whole(tmp_path: Path) -> None:
    half = build_run(tmp_path, RunScript(rate=200.0, duration_s=45.0))
    files = [path.name for path in half.iterdir() if path.suffix in (".csv", ".hlog")]
    alone = json.loads((half / "impact.json").read_text())
    for part in part_directories(half, 2):
        part.mkdir(parents=True)
        for name in [*files, "generator.json"]:
            (part / name).write_bytes((half / name).read_bytes())
    (half / "parts.json").write_text(json.dumps(facts()))
    (half / "ledger.ndjson").unlink()  # both would own the same keys
    both = document_of(analyze(half))
    assert both["load"]["offered"] == 2 * alone["load"]["offered"]
    assert both["baseline"]["tps"] == pytest.approx(2 * alone["baseline"]["tps"])
    for name in ("tps_drop", "degraded_time", "recovery_time", "availability"):
        assert both["faults"][0][name] == pytest.approx(alone["faults"][0][name], abs=0.011), name
    assert both["faults"][0]["lost_operations"] == 2 * alone["faults"][0]["lost_operations"]
    (together,) = [c for c in both["validity"] if c["name"] == "generators_together"]
    assert together["ok"] is True
    (half / "parts.json").write_text(json.dumps(facts(start_s=0.051)))
    (reason,) = [r for r in analyze(half).reasons if r.startswith("generators_together")]
    assert "2 generators within 52.0 ms of each other, at most 50 ms" in reason
