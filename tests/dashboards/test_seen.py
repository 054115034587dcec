"""A node wipe, seen through Prometheus: every question has an answer, and it is the same dip."""

import csv
import json

import numpy as np
import pytest
from tests.dashboards.conftest import Seen
from tests.dashboards.questions import Question, filled, of_dashboards, of_rules
from tests.prometheus import get, promtool

from brownout.dashboards import queries
from brownout.dashboards.compare import shift
from brownout.dashboards.run import ZOOM
from brownout.judge import slo
from brownout.litmus.definitions import prom_probe

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(400)]


def _variables(seen: Seen) -> dict[str, str]:
    length = round(seen.span[1] - seen.span[0]) + 5
    return {
        "run": seen.run,
        "other": seen.run,
        "shift": "1",
        "window": "5s",
        "cluster": "lab-aerospike",
        "set": "lab-mongodb",
        "scope": "lab-postgresql",
        **{job: job for job in ("cassandra", "etcd", "postgres", "redis")},
        "__range": f"{length}s",
    }


def test_every_question_of_dashboards_and_rules_has_an_answer(seen: Seen) -> None:
    seen.ran.check_proven()
    start, end = seen.span
    values = _variables(seen)
    silent = []
    questions: list[Question] = [*of_dashboards(), *of_rules()]
    for question in questions:
        if not seen.source.query_range(filled(question.expression, values), start, end + 5, 1.0):
            silent.append(question)
    assert len(questions) > 100
    assert silent == []


def test_the_hidden_shift_of_compare_is_what_its_pattern_reads(seen: Seen) -> None:
    (found,) = seen.source.query(filled(shift(), _variables(seen)))
    assert found.values == (1.0,)  # of a run to itself: none, but no offset may be 0
    assert found.labels == {}  # Grafana writes `{} 1 <time>`, which the pattern reads


def test_the_graphs_show_the_same_drop_as_impact_json(seen: Seen) -> None:
    """A rate over 2 s of scrapes a second apart looks at 1 to 3 s, so its lowest point lies
    between those of the exact means over 1 and 3 s."""
    start, end = seen.span
    share = f"{queries.ok(seen.run, ZOOM)} / {queries.baseline(seen.run)}"
    (graph,) = seen.source.query_range(share, start, end, 0.5)
    fault = seen.source.query(
        f'min_over_time(brownout_fault_start_time_seconds{{run="{seen.run}"}}[10m])'
    )
    since = min(f.values[0] for f in fault)
    drawn = 1 - min(v for t, v in zip(graph.times, graph.values, strict=True) if t > since)
    impact = seen.ran.impact
    baseline = impact["baseline"]["tps"]
    after = [e["effective"] for e in impact["faults"][0]["events"] if e.get("effective")]
    exact = {s: 1 - _lowest(seen, min(after), s) / baseline for s in (1.0, 3.0)}
    assert exact[1.0] == pytest.approx(impact["faults"][0]["tps_drop"], abs=0.01)
    assert exact[3.0] - 0.03 <= drawn <= exact[1.0] + 0.03


def test_what_prometheus_counted_is_what_the_files_say(seen: Seen) -> None:
    """The last scrape comes after the load has ended: nothing is missing."""
    (ended,) = seen.source.query(
        f'sum(max_over_time(brownout_operations_total{{run="{seen.run}",outcome="ok"}}[10m]))'
    )
    told = json.loads((seen.directory / "generator.json").read_text())
    assert ended.values == (told["ok"],)
    (verdict,) = seen.source.query(
        f'last_over_time(brownout_run_verdict{{run="{seen.run}"}}[10m]) == 1'
    )
    assert verdict.labels["verdict"] == seen.ran.impact["verdict"]
    assert verdict.labels["stand_in"] == "false"


def test_litmus_prom_probes_get_the_figures_that_the_limits_judged(seen: Seen) -> None:
    impact = seen.ran.impact
    limits = slo.file_limits("node-wipe", "mongodb")
    assert len(limits) > 3
    for limit in limits:
        probe = prom_probe(limit, "http://unused", "node-wipe")["promProbe/inputs"]
        place = limit.measure, limit.scope
        (judged,) = [each for each in impact["slos"] if (each["name"], each["scope"]) == place]
        (found,) = seen.source.query(probe["query"])
        per = judged["limit"] / float(probe["comparator"]["value"]) if judged["limit"] else 1.0
        assert found.values[-1] * per == pytest.approx(judged["value"])


def test_a_hypothesis_stood_on_the_view_of_prometheus(seen: Seen) -> None:
    before, after = (
        {p["activity"]["name"]: p for p in seen.ran.journal["steady_states"][when]["probes"]}
        for when in ("before", "after")
    )
    assert before["servers-saw-it-too"]["output"]["status"] == "not_applicable"
    answer = after["servers-saw-it-too"]["output"]
    if answer["status"] == "no_data":
        assert _longest_gap(seen) > 1.5, answer
        pytest.skip(f"this machine is too busy to be scraped once a second: {answer['missing']}")
    assert answer["status"] == "measured", answer
    assert after["servers-saw-it-too"]["tolerance_met"] is True
    assert answer["value"] > 0.5


def test_the_pushgateway_has_the_last_word_of_the_run(seen: Seen) -> None:
    text = get(f"{seen.gateway}/metrics")
    lines = [line for line in text.splitlines() if f'run="{seen.run}"' in line]
    verdict = seen.ran.impact["verdict"]
    assert any(f'verdict="{verdict}"' in line and line.endswith(" 1") for line in lines)
    assert any(line.startswith("brownout_response_time_seconds_bucket") for line in lines)
    ours = [line for line in text.splitlines() if "brownout_" in line.partition("{")[0]]
    checked = promtool("check", "metrics", text="\n".join(ours) + "\n")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_run_was_watched_from_its_address_to_its_verdict(seen: Seen) -> None:
    codes = {"pass": 0, "fail": 1, "inconclusive": 2}
    assert seen.watched.returncode == codes[seen.ran.impact["verdict"]], seen.watched.stderr
    assert "ok/s" in seen.watched.stderr
    assert "acknowledged writes lost" in seen.watched.stdout


def _longest_gap(seen: Seen) -> float:
    """The longest time between two scrapes of the run."""
    start, end = seen.span
    scraped = f'timestamp(brownout_run_info{{run="{seen.run}"}})'
    (stamps,) = seen.source.query_range(scraped, start, end, 0.5)
    return float(np.diff(np.unique(stamps.values)).max())


def _lowest(seen: Seen, since: float, window_s: float) -> float:
    """The lowest mean of ok per second over a trailing window, of series.csv itself."""
    rows: dict[float, int] = {}
    with (seen.directory / "series.csv").open() as file:
        for row in csv.DictReader(file):
            rows[float(row["t"])] = rows.get(float(row["t"]), 0) + int(row["ok"])
    times, counts = np.array(sorted(rows)), np.array([rows[t] for t in sorted(rows)])
    length = round(window_s * 10)
    means = np.convolve(counts, np.ones(length), "valid") / window_s
    return float(means[times[length - 1 :] > since].min())
