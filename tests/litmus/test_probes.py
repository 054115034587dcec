"""Limits as Litmus's probes, and the figures that they ask for."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.litmus.definitions import mistakes
from tests.run_builder import RunScript, build_run
from tests.wording import mentions

from brownout import cli
from brownout.base.errors import ConfigurationError
from brownout.faults.litmus.surroundings import surroundings
from brownout.judge import slo
from brownout.judge.slo import Limit
from brownout.litmus.answers import figure
from brownout.litmus.declarations import declared_limits, probes_of
from brownout.litmus.definitions import Source, cmd_probe, definitions, prom_probe, query
from brownout.litmus.names import places, probe_name
from brownout.litmus.variables import variables

LIMITS = [
    Limit("recovery_time", 10.0),
    Limit("availability", 0.95, "write"),
    Limit("latency.during.p99_us", 25_000.0, "read"),
    Limit("lost_writes", 0.0),
    Limit("time_above.p99_10ms", 3.0),
]
Probe = dict[str, Any]


def engine(*probes: Probe) -> dict[str, Any]:
    return {
        "apiVersion": "litmuschaos.io/v1alpha1",
        "kind": "ChaosEngine",
        "metadata": {"name": "kill"},
        "spec": {
            "engineState": "active",
            "chaosServiceAccount": "brownout-litmus",
            "experiments": [{"name": "node-kill", "spec": {"probe": list(probes)}}],
        },
    }


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: str(limit.measure))
def test_a_limit_comes_back_from_its_probe_as_it_was(limit: Limit) -> None:
    made = [cmd_probe(limit, None)]
    if not limit.measure.startswith("time_above"):
        made.append(prom_probe(limit, "http://p:9090", "node-kill"))
    for probe in made:
        assert mistakes(engine(probe)) == []
        (declared,) = probes_of(engine(probe), "node-kill")
        name = limit.measure if limit.scope == "total" else f"{limit.scope}.{limit.measure}"
        found = declared_limits([declared], [limit], ["orders"])
        assert found == {name: pytest.approx(limit.limit)}


def test_names_of_all_probes_are_distinct_and_of_litmus_kind() -> None:
    known = places(LIMITS, ["orders"])
    assert known["write-availability"] == ("availability", "write")
    assert known["time-above-p99-10ms"] == ("time_above.p99_10ms", "total")
    assert known["orders-latency-all-after-max-us"] == ("latency_all.after.max_us", "orders")
    assert len(known) == len({(m, s) for m, s in known.values()})
    assert probe_name("tps_drop", "total") == "tps-drop"


def test_a_query_outlives_the_double_quotes_of_litmus_shell() -> None:
    limit = Limit("latency.during.p99_us", 25_000.0, "read")
    asked = query(limit, "node-kill")
    assert asked == (
        "max(last_over_time(brownout_impact_seconds{experiment='node-kill',"
        "measure='latency.during.p99',scope='read'}[15m]))"
    )
    said = subprocess.run(["sh", "-c", f'printf %s "{asked}"'], capture_output=True, text=True)
    assert said.stdout == asked
    probe = prom_probe(limit, "http://p:9090", "node-kill")
    assert probe["promProbe/inputs"]["comparator"]["value"] == "0.025"
    assert query(Limit("availability", 0.9), "x").startswith("min(")
    assert "brownout_ledger_writes{experiment='x',fate='lost'}" in query(LIMITS[3], "x")


def test_what_no_metric_shows_is_no_prom_probe() -> None:
    with pytest.raises(ConfigurationError, match=r"time_above\.p99_10ms: no metric shows it"):
        definitions(LIMITS, "promProbe", None, "http://p:9090", "node-kill")


def test_a_pod_of_its_own_reads_the_runs_on_a_claim() -> None:
    probe = cmd_probe(LIMITS[0], Source("brownout:1", "runs"))
    assert mistakes(engine(probe)) == []
    pod = probe["cmdProbe/inputs"]["source"]
    assert pod["env"] == [{"name": "BROWNOUT_RUNS", "value": "/runs"}]
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == "runs"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "frontend"}, "frontend (cmdProbe): not one of brownout's probes"),
        ({"type": "httpProbe"}, "recovery-time (httpProbe): not one of brownout's probes"),
        ({"criteria": ">="}, "comparator.criteria: found '>=', wanted '<='"),
        ({"value": "soon"}, "comparator.value: found 'soon', wanted a number"),
    ],
)
def test_a_probe_that_nobody_would_ask_is_refused(change: dict[str, str], said: str) -> None:
    probe = cmd_probe(LIMITS[0], None)
    inputs = probe["cmdProbe/inputs"]["comparator"]
    for key, value in change.items():
        (inputs if key in ("criteria", "value") else probe)[key] = value
    with pytest.raises(ConfigurationError) as raised:
        declared_limits([probe], LIMITS, [])
    assert said in str(raised.value)


def test_an_experiment_that_is_none_of_the_engine_is_named() -> None:
    with pytest.raises(ConfigurationError, match="has no experiment `node-wipe`; it has node-kill"):
        probes_of(engine(), "node-wipe")


def test_the_command_prints_what_an_engine_takes(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("cmd", "prom"):
        assert cli.run(["litmus", "probes", "node-kill", "--kind", kind]) == 0
        made = yaml.safe_load(capsys.readouterr().out)["probe"]
        assert mistakes(engine(*made)) == []
        names = [probe_name(li.measure, li.scope) for li in slo.file_limits("node-kill", "mongodb")]
        assert [probe["name"] for probe in made] == names


# -- the figure ---------------------------------------------------------------------------------


def test_the_commands_of_the_probes_print_the_figures_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROWNOUT_RUNS", str(tmp_path))
    path = build_run(tmp_path, RunScript())
    impact = json.loads((path / "impact.json").read_text())
    for limit in LIMITS[:4]:
        words = shlex.split(cmd_probe(limit, None)["cmdProbe/inputs"]["command"])
        assert cli.run(words[1:]) == 0
        said = float(capsys.readouterr().out)
        assert said == figure(path, limit.measure, limit.scope, 0.0)
    assert figure(path, "recovery_time", "total", 0.0) == impact["faults"][0]["recovery_time"]


def test_what_never_came_is_infinite_and_no_data_is_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = {"measure": "redundancy_time", "limit": 5, "scope": "total", "limit_from": "test",
             "why": "test"}  # fmt: skip
    path = build_run(tmp_path, RunScript(redundant_at=None, limits=(limit,)))
    assert cli.run(["litmus", "probe", str(path), "redundancy_time"]) == 0
    assert capsys.readouterr().out == "inf\n"
    assert cli.run(["litmus", "probe", str(path), "records_moved"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert mentions(said.err, "records_moved of total")
    assert cli.run(["litmus", "probe", str(path), "redundancy"]) == 64


def test_a_run_that_cannot_be_judged_has_no_figure(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(whole=False))
    assert cli.run(["litmus", "probe", str(path), "recovery_time"]) == 2


def test_a_run_that_goes_on_says_what_can_only_grow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build_run(tmp_path, RunScript(analyzed=False))
    assert cli.run(["litmus", "probe", str(path), "blackout"]) == 0
    assert 2.0 < float(capsys.readouterr().out) < 4.0
    assert cli.run(["litmus", "probe", str(path), "availability"]) == 2
    assert mentions(capsys.readouterr().err, "availability")


# -- what Litmus says by variables ----------------------------------------------------------------


def test_the_length_of_the_chaos_is_what_the_experiment_calls_it() -> None:
    given = {"TOTAL_CHAOS_DURATION": "30", "RAMP_TIME": "5"}
    assert variables(given, {"downtime_s": 2}) == ["downtime_s:float=30", "phase_s:float=5"]
    assert variables(given, {"maintenance_s": 2}) == ["maintenance_s:float=30", "phase_s:float=5"]
    assert variables({"TOTAL_CHAOS_DURATION": "", "RAMP_TIME": ""}, {}) == []
    with pytest.raises(ConfigurationError) as raised:
        variables({"TOTAL_CHAOS_DURATION": "30", "RAMP_TIME": "-1"}, {})
    assert len(raised.value.problems) == 2


def test_without_litmus_it_says_every_variable_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("CHAOSENGINE", "EXPERIMENT_NAME", "CHAOS_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    assert cli.run(["litmus", "run", "node-kill"]) == 64
    said = capsys.readouterr().err
    assert all(name in said for name in ("CHAOSENGINE", "EXPERIMENT_NAME", "CHAOS_NAMESPACE"))


def test_the_result_is_named_as_litmus_names_it() -> None:
    there = {"CHAOSENGINE": "kill", "EXPERIMENT_NAME": "node-kill", "CHAOS_NAMESPACE": "litmus"}
    assert surroundings(there).result == "kill-node-kill"
    assert surroundings({**there, "INSTANCE_ID": "7"}).result == "kill-node-kill-7"
