"""From raw files to a verdict: the same each time, whatever was torn, and never a pass by lack."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run
from tests.wording import mentions

from brownout.base.errors import RunDirectoryError
from brownout.judge.analysis import analyze
from brownout.measure.dips import BY_THROUGHPUT
from brownout.measure.document import document_of
from brownout.measure.settings import MeasureSettings
from brownout.run.series import identity_violations, read_series


def limit(measure: str, value: float, scope: str = "total") -> dict[str, Any]:
    return {"measure": measure, "scope": scope, "limit": value, "limit_from": "test", "why": ""}


HEALTHY = (limit("blackout", 5), limit("recovery_time", 10), limit("lost_seconds", 4),
           limit("redundancy_time", 60), limit("lost_writes", 0))  # fmt: skip
SCRIPT = RunScript(rate=200, limits=HEALTHY)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_run(tmp_path_factory.mktemp("runs"), SCRIPT)


def impact_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "impact.json").read_text())
    return found


def analyzed(path: Path) -> dict[str, Any]:
    """Analyse a run and return what it wrote."""
    analyze(path)
    return impact_of(path)


def unmet(impact: dict[str, Any]) -> list[str]:
    return [each["name"] for each in impact["validity"] if each["ok"] is not True]


def test_a_healthy_run_passes(healthy: Path) -> None:
    impact = impact_of(healthy)
    assert (impact["verdict"], impact["reasons"], unmet(impact)) == ("pass", [], [])
    assert all(slo["met"] for slo in impact["slos"])
    fault = impact["faults"][0]
    assert fault["name"] == "kill_node"
    assert fault["effective"] == 25.352
    assert fault["recovery_time"] == pytest.approx(2.9, abs=0.15)
    assert fault["blackout"] == pytest.approx(2.9, abs=0.1)
    assert fault["redundancy_time"] == [8.748, 8.848]
    assert fault["end"] == pytest.approx(34.2)
    assert impact["baseline"]["tps"] == 200.0


def test_the_raw_files_keep_their_identities(healthy: Path) -> None:
    assert identity_violations(read_series(healthy)) == 0


def test_the_same_raw_files_give_the_same_bytes(healthy: Path) -> None:
    files = [healthy / "impact.json", healthy / "ledger.json"]
    before = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    assert document_of(analyze(healthy)) == impact_of(healthy)
    assert [file.read_bytes() for file in files] == before


def test_the_document_has_every_field_of_its_schema(healthy: Path) -> None:
    impact = impact_of(healthy)
    assert set(impact) >= {
        "schema_version", "verdict", "reasons", "stand_in", "cluster", "experiment", "workload",
        "deadline_s", "validity", "slos", "baseline", "faults", "ledger", "load", "seed",
    }  # fmt: skip
    measures = {
        "tps_drop", "tps_drop_interval", "tps_drop_sham", "mean_drop", "worst_second",
        "time_to_impact", "degraded_time", "blackout", "longest_blackout", "recovery_time",
        "settled_time", "lost_operations", "lost_seconds", "lost_method", "errors",
        "errors_after_retry", "availability", "rejoin_time", "redundancy_time",
        "rejoin_time_after_start", "redundancy_time_after_start", "latency",
    }  # fmt: skip
    fault = impact["faults"][0]
    assert set(fault) >= measures | {"name", "events", "requested", "effective", "scopes"}
    assert set(fault["scopes"]) == {"read", "write", "app", "orders"}
    for scope in fault["scopes"].values():
        assert set(scope) >= measures
    for phase in ("before", "during", "after"):
        assert set(fault["latency"][phase]) >= {"p50_us", "p99_us", "p999_us", "max_us"}
    assert set(impact["ledger"]) >= {
        "state", "keys", "acknowledged", "ok", "lost", "rolled_back", "overwritten_by_late",
        "recovered", "unexpected", "corrupt", "unread",
    }  # fmt: skip
    assert set(impact["load"]) >= {"loop", "offered", "achieved_ratio", "missed", "lag_p99_ms"}


def test_a_slow_database_fails_with_its_reasons(tmp_path: Path) -> None:
    slow = RunScript(rate=200, outage_s=11.0, rejoined_at=39.0, redundant_at=39.5, limits=HEALTHY)
    impact = impact_of(build_run(tmp_path, slow))
    assert impact["verdict"] == "fail"
    assert [reason.split(":")[0] for reason in impact["reasons"]] == [
        "blackout", "recovery_time", "lost_seconds",
    ]  # fmt: skip
    assert "at most 5 s wanted (test)" in impact["reasons"][0]


@pytest.mark.parametrize(
    ("script", "word", "reason"),
    [
        (
            RunScript(lost_keys=3),
            "fail",
            "lost_writes: 3 of 800",
        ),
        (RunScript(lost_keys=3, unread_keys=2, whole=False), "fail", "lost_writes"),
        (RunScript(redundant_at=None), "fail", "not redundant again within 60 s"),
        (RunScript(unread_keys=2), "inconclusive", "ledger_known: 2 of 200 keys"),
        (RunScript(ended=False), "inconclusive", "generator_finished"),
        (RunScript(lag_p99_ms=1080.0), "inconclusive", "generator_not_starved"),
        (RunScript(whole=False), "inconclusive", "cluster_whole_at_start"),
        (RunScript(fault_at=None), "inconclusive", "fault_landed: nothing was broken"),
        (RunScript(again=((8.0, 3.0),)), "inconclusive", "baseline_stable: "),
        (RunScript(limits=(limit("tps_drop", 0.02),)), "inconclusive", "below the noise"),
        (RunScript(limits=(limit("promoted_time", 2.8),)), "pass", ""),
        (RunScript(limits=(limit("promoted_time", 2.7),)), "fail", "promoted_time: 2.702 s"),
        (RunScript(limits=(limit("promoted_time", 9),), promoted_at=None), "fail", "not within"),
        (RunScript(limits=(limit("promoted_time", 90),), promoted_at=None), "inconclusive",
         "34.4 s"),
        (RunScript(limits=(limit("promoted_time", 9),), asked=False), "inconclusive",
         "promoted_time: not measured: no node said before the fault whether it accepts writes"),
        (RunScript(limits=(limit("primary_overlap", 0),)), "pass", ""),
        (RunScript(limits=(limit("primary_overlap", 0),), stale_until=28.5), "fail",
         "primary_overlap: 0.398 s at best, 0.602 s at worst; at most 0 s wanted"),
        (RunScript(limits=(limit("primary_overlap", 0),), stale_until=28.0), "inconclusive",
         "0 s at best, 0.102 s at worst: no look shows what decides"),
        (RunScript(limits=(limit("primary_overlap", 0.2),), stale_until=28.0), "pass", ""),
        (RunScript(limits=(limit("primary_overlap", 0),), asked=False), "inconclusive",
         "primary_overlap: not measured: no node said before the fault whether it accepts writes"),
        (RunScript(limits=(limit("client_recovered_time", 2.5),)), "fail", "client_recovered_time"),
        (RunScript(limits=(limit("client_recovered_time", 0.35),)), "inconclusive",
         "the limit of 0.35 s is shorter than the 0.4 s that an outage has to last"),
        (RunScript(limits=(limit("partial_outage", 0.1),)), "inconclusive", "than the 0.2 s"),
        (RunScript(limits=(limit("partial_outage", 0.2),)), "pass", ""),
        (RunScript(limits=(limit("in_doubt_applied", 0),)), "fail", "in_doubt_applied: 1 writes"),
        (RunScript(limits=(limit("latency.during.p99_us", 9, "gone"),)), "inconclusive", "no data"),
        (RunScript(duration_s=31.0), "inconclusive", "5.6 s"),
        (RunScript(duration_s=37.0, outage_s=11.0), "fail", "recovery_time"),
        (RunScript(abort="Ctrl-C", redundant_at=40.0), "aborted", "aborted: Ctrl-C"),
        (RunScript(abort="Ctrl-C", lost_keys=1), "fail", "lost_writes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_verdict_follows_from_the_files(
    tmp_path: Path, script: RunScript, word: str, reason: str
) -> None:
    given = script.limits != RunScript().limits
    limits = script.limits if given else (limit("recovery_time", 10),)
    quick = {**script.__dict__, "rate": 200, "limits": limits}
    impact = impact_of(build_run(tmp_path, RunScript(**quick)))
    assert impact["verdict"] == word
    assert reason in " ".join(impact["reasons"])


def test_a_dropped_limit_is_not_judged_and_the_result_says_so(
    tmp_path: Path, healthy: Path
) -> None:
    shutil.copytree(healthy, tmp_path / "run")
    record = json.loads((healthy / "run.json").read_text())
    dropped = {**limit("blackout", 0.5, "write"), "limit_from": "--var limits"}
    record["dropped_limits"] = [dropped]
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    impact = analyzed(tmp_path / "run")
    assert impact["verdict"] == "pass"
    assert impact["remarks"] == ["blackout (write): --var limits dropped its limit (at most 0.5 s)"]


def test_an_early_abort_is_no_failure_to_recover(tmp_path: Path) -> None:
    early = RunScript(rate=200, duration_s=29.0, start_at=28.5, rejoined_at=28.8, redundant_at=28.9,
                      abort="Ctrl-C", limits=HEALTHY)  # fmt: skip
    impact = impact_of(build_run(tmp_path, early))
    assert (impact["verdict"], impact["reasons"]) == ("aborted", ["aborted: Ctrl-C"])
    met = {slo["name"]: slo["met"] for slo in impact["slos"]}
    assert met["recovery_time"] is None


def test_a_closed_loop_is_judged_by_throughput(tmp_path: Path) -> None:
    closed = RunScript(rate=400, concurrency=16, fault_at=25.4, outage_s=3.0, deadline_s=5.0)
    fault = impact_of(build_run(tmp_path, closed))["faults"][0]
    assert (fault["availability"], fault["worst_second"]) == (None, None)
    assert fault["dip_method"] == BY_THROUGHPUT
    assert fault["recovery_time"] == pytest.approx(3.0, abs=0.2)
    assert fault["lost_operations"] == pytest.approx(1200, abs=60)


def test_an_outage_soon_after_redundancy_belongs_to_the_fault(tmp_path: Path) -> None:
    """The load had held for long before every member was back, and then not."""
    script = RunScript(redundant_at=40.0, again=((40.6, 9.0),))
    (fault,) = analyze(build_run(tmp_path, script)).faults
    assert fault.end is not None
    assert fault.end > 49.5
    assert fault.number("blackout") == pytest.approx(2.9 + 9.0, abs=0.3)
    assert fault.number("return_recovery_time") == pytest.approx(49.6 - 29.4, abs=0.1)


def test_two_faults_are_measured_one_after_the_other(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(rate=200, duration_s=70, again=((50.0, 2.0),)))
    lines = (path / "events.ndjson").read_text().splitlines()
    pause = {"id": 20, "type": "break", "name": "pause_node", "node": "n2", "t": 50.0}
    more = [
        {**pause, "stage": "intent"},
        {**pause, "stage": "effective", "uncertainty": 0.001, "evidence": {"state": "T"}},
    ]
    (path / "events.ndjson").write_text(
        "\n".join([*lines[:-1], *map(json.dumps, more), lines[-1]]) + "\n"
    )
    first, second = analyzed(path)["faults"]
    assert (first["name"], second["name"]) == ("kill_node", "pause_node")
    assert first["until"] == 50.0
    assert second["recovery_time"] == pytest.approx(2.0, abs=0.15)
    assert sum(first["errors"].values()) == pytest.approx(380, abs=15)


@pytest.mark.parametrize(
    "name",
    ["series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "latency.hlog", "events.ndjson",
     "ledger.ndjson", "generator.csv"],
)  # fmt: skip
@pytest.mark.parametrize("kept", [0.0, 0.37, 0.8, 0.9999])
def test_a_run_with_a_torn_file_is_analyzed_and_never_worse_than_known(
    tmp_path: Path, healthy: Path, name: str, kept: float
) -> None:
    for file in healthy.iterdir():
        data = file.read_bytes()
        (tmp_path / file.name).write_bytes(
            data[: int(kept * len(data))] if file.name == name else data
        )
    impact = analyzed(tmp_path)
    assert impact["verdict"] in ("pass", "fail", "inconclusive")
    if name == "ledger.ndjson":
        assert (impact["verdict"], impact["ledger"]["state"]) == ("inconclusive", "unknown")
    if name in ("series.csv", "outcomes.csv") and kept < 0.4:
        assert impact["verdict"] != "pass"


def test_a_run_that_never_started_its_load_is_inconclusive(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(rate=50, analyzed=False))
    for file in path.iterdir():
        if file.name != "run.json":
            file.unlink()
    impact = analyzed(path)
    assert (impact["verdict"], impact["faults"]) == ("inconclusive", [])


def test_a_violated_identity_makes_a_run_inconclusive(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(rate=100, analyzed=False, limits=HEALTHY))
    file = path / "outcomes.csv"
    lines = file.read_text().splitlines()
    fields = lines[400].split(",")
    fields[3] = str(int(fields[3]) + 1)
    lines[400] = ",".join(fields)
    file.write_text("\n".join(lines) + "\n")
    impact = analyzed(path)
    assert impact["verdict"] == "inconclusive"
    assert impact["reasons"] == [
        "identities_exact: 1 rows of the raw files whose sums do not agree"
    ]


def test_a_lane_that_is_dark_is_named(healthy: Path) -> None:
    lanes = impact_of(healthy)["faults"][0]["longest_blackout_by_lane"]
    assert lanes == {
        "127.0.0.1:27101 read": pytest.approx(2.9, abs=0.1),
        "127.0.0.1:27101 write": pytest.approx(2.9, abs=0.1),
    }


def test_a_wanted_resolution_is_reported(tmp_path: Path) -> None:
    settings = MeasureSettings.from_mapping(
        {**MeasureSettings.lab().as_dict(), "resolution_s": 5.0}
    )
    fault = impact_of(build_run(tmp_path, RunScript(rate=200, settings=settings)))["faults"][0]
    assert 0.3 < fault["tps_drop_at_resolution"] < 0.6
    assert fault["tps_drop"] == 1.0


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("series.csv", "series.csv ends at"),
        ("outcomes.csv", "outcomes.csv ends at"),
        ("latency.hlog", "latency.hlog ends at"),
        ("events.ndjson", "events.ndjson does not say that the load was stopped"),
    ],
)
def test_a_file_that_ends_before_the_run_keeps_it_from_a_pass(
    tmp_path: Path, healthy: Path, name: str, lacks: str
) -> None:
    shutil.copytree(healthy, tmp_path / "run")
    lines = (healthy / name).read_text().splitlines(keepends=True)
    (tmp_path / "run" / name).write_text("".join(lines[: int(0.9 * len(lines))]))
    impact = analyzed(tmp_path / "run")
    assert impact["verdict"] in ("inconclusive", "fail")
    (condition,) = [c for c in impact["validity"] if c["name"] == "files_whole"]
    assert condition["ok"] is False
    assert lacks in condition["detail"]


FAILED_OVER = (limit("primary_overlap", 0), limit("promoted_time", 5))


@pytest.mark.parametrize("stale_until", [None, 35.0])
@pytest.mark.parametrize("torn", ["", "26.0,26."])
@pytest.mark.parametrize("until", [25.26, 25.3, 25.6, 26.5, 28.2, 40.0, 58.5])
def test_a_primaries_csv_that_ends_before_the_run_keeps_it_from_a_pass(
    tmp_path: Path, until: float, torn: str, stale_until: float | None
) -> None:
    script = RunScript(rate=50, stale_until=stale_until, limits=FAILED_OVER, analyzed=False)
    path = build_run(tmp_path, script)
    header, *lines = (path / "primaries.csv").read_text().splitlines(keepends=True)
    kept = [line for line in lines if float(line.split(",")[0]) < until]
    (path / "primaries.csv").write_text("".join([header, *kept, torn]))
    impact = analyzed(path)
    proven = stale_until is not None and until > 28.1  # that there were two is in what is left
    assert impact["verdict"] == ("fail" if proven else "inconclusive")
    (promoted,) = [slo for slo in impact["slos"] if slo["name"] == "promoted_time"]
    assert promoted["met"] is (True if until > 28.1 else None)
    assert "never at worst: no look shows" in promoted["detail"] or promoted["met"]


@pytest.mark.parametrize(("killed", "word"), [("n1", "fail"), ("n2", "inconclusive")])
def test_a_silent_primary_fails_no_limit_unless_it_was_stopped(
    tmp_path: Path, killed: str, word: str
) -> None:
    script = RunScript(rate=50, promoted_at=None, limits=FAILED_OVER, analyzed=False)
    path = build_run(tmp_path, script)
    text = (path / "primaries.csv").read_text()
    (path / "primaries.csv").write_text(text.replace(",n1,0,", ",n1,-1,"))
    events = (path / "events.ndjson").read_text().splitlines(keepends=True)
    kept = "".join(line for line in events if "start_node" not in line or '"break"' in line)
    (path / "events.ndjson").write_text(kept.replace('"node": "n1"', f'"node": "{killed}"'))
    assert analyzed(path)["verdict"] == word


def test_a_primaries_csv_that_is_whole_is_judged(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(rate=50, limits=FAILED_OVER))
    assert impact_of(path)["verdict"] == "pass"


@pytest.mark.parametrize(
    "name", ["errors.csv", "lanes.csv", "generator.csv", "latency.hlog", "primaries.csv"]
)
def test_half_a_line_at_the_end_keeps_a_run_from_a_pass(
    tmp_path: Path, healthy: Path, name: str
) -> None:
    shutil.copytree(healthy, tmp_path / "run")
    data = (healthy / name).read_bytes()
    (tmp_path / "run" / name).write_bytes(data[:-5])
    impact = analyzed(tmp_path / "run")
    assert impact["verdict"] == "inconclusive"
    (torn,) = impact["reasons"]
    assert mentions(torn, "files_whole", name)


def test_a_ledger_with_a_damaged_line_is_not_known_to_be_clean(
    tmp_path: Path, healthy: Path
) -> None:
    shutil.copytree(healthy, tmp_path / "run")
    text = (healthy / "ledger.ndjson").read_text()
    (tmp_path / "run" / "ledger.ndjson").write_text(text.replace('"acked": 5', '"acked": "5"', 1))
    impact = analyzed(tmp_path / "run")
    assert impact["verdict"] == "inconclusive"
    assert impact["ledger"]["state"] == "unknown"
    assert mentions(" ".join(impact["reasons"]), "199 of 200")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("run.json", '{"limits": [{"measure": "blackout", "limit": "5"}]}', "limits\\[0\\].limit"),
        ("run.json", '{"seed": 1e999}', "is not JSON"),
        ("generator.json", '{"ended": true, "lag_p99_ms": [1]}', "lag_p99_ms"),
    ],
)
def test_a_record_of_another_shape_is_refused_with_the_place(
    tmp_path: Path, healthy: Path, name: str, text: str, words: str
) -> None:
    shutil.copytree(healthy, tmp_path / "run")
    (tmp_path / "run" / name).write_text(text)
    with pytest.raises(RunDirectoryError, match=words):
        analyze(tmp_path / "run")


@pytest.mark.parametrize(("buckets", "whole"), [(1, True), (2, False)])
def test_the_bucket_in_which_a_load_ended_need_not_be_there(
    tmp_path: Path, buckets: int, whole: bool
) -> None:
    path = build_run(tmp_path, RunScript())
    told = json.loads((path / "generator.json").read_text())
    (path / "generator.json").write_text(json.dumps({**told, "end_t": 60 + buckets / 10}))
    (condition,) = [one for one in analyzed(path)["validity"] if one["name"] == "files_whole"]
    assert condition["ok"] is whole, condition


def test_times_since_a_break_by_others_lie_between_the_begin_and_the_end_of_its_step(
    tmp_path: Path,
) -> None:
    run = build_run(tmp_path, RunScript(analyzed=False))
    ours = analyze(run).faults[0]
    lines = [json.loads(line) for line in (run / "events.ndjson").read_text().splitlines()]
    for line in lines:
        if line["type"] == "break":
            line |= {"name": "kill-it", "node": None}
            if line["stage"] == "intent":
                line |= {"undo": None, "arguments": {"by": "process ./kill.sh", "kind": "action"}}
            if line["stage"] == "effective":
                line |= {"t": line["t"] + 6.0, "uncertainty": 6.012}
    (run / "events.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    theirs = analyze(run).faults[0]
    assert theirs.effective == pytest.approx(ours.requested)
    recovery = theirs.number("recovery_time")
    assert recovery is not None
    assert recovery == pytest.approx(ours.number("recovery_time"), abs=0.1)
    best, worst = theirs.range("recovery_time") or (None, None)
    assert best == pytest.approx(max(0.0, recovery - 6.012))
    assert worst == recovery
    assert theirs.range("blackout") is None
