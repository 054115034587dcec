"""`brownout baseline pin` and `brownout gate` over whole run directories, as CI uses them."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from tests.cli.conftest import Brownout, brownout, home
from tests.run_builder import RunScript, build_run
from tests.runs.gate.repeated import build_repeats
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.runs.gate import baseline as baselines
from brownout.runs.gate import fit
from brownout.runs.run_set import Runs

__all__ = ["brownout", "home"]

LIMITS = ({"measure": "blackout", "limit": 9.0, "scope": "total", "why": "users wait"},)


def _compared(data: dict[str, Any], measure: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in data["measures"] if each["measure"] == measure)
    return found


def _measured(data: dict[str, Any], measure: str, value: float, of: int = 1) -> None:
    """Have so many repeats of a pinned file say this value."""
    for repeat in data["repeats"][:of]:
        repeat["values"][measure] = value


SLOWER = {"start_at": 33.0, "rejoined_at": 37.4, "redundant_at": 38.2}


@pytest.fixture(scope="module")
def repeats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sequence[Path]]:
    """Five repeats of a good version, five more of it, and five that are slower to recover."""
    root = tmp_path_factory.mktemp("repeats")
    return {
        "pinned": build_repeats(root, 5, 2.9, 1, limits=LIMITS),
        "same": build_repeats(root, 5, 2.9, 2, limits=LIMITS),
        "slower": build_repeats(root, 5, 6.9, 3, limits=LIMITS, **SLOWER),
    }


@pytest.fixture
def pinned(brownout: Brownout, home: Path, repeats: dict[str, Sequence[Path]]) -> Path:
    said = brownout("baseline", "pin", *repeats["pinned"], "-o", home / "baseline.yaml")
    assert said.code == 0, said.err
    return home / "baseline.yaml"


def test_a_gate_passes_on_the_version_that_was_pinned(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    said = brownout("gate", "--baseline", pinned, *repeats["same"])
    assert said.code == 0, said.out
    assert "PASS: gate of node-kill on lab-mongodb, mongod 6.0.5, 5 runs" in said.out


def test_a_gate_fails_on_a_version_that_recovers_later_and_says_by_how_much(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]], home: Path
) -> None:
    files = (home / "gate.xml", home / "gate.md")
    said = brownout("gate", "--baseline", pinned, *repeats["slower"], "-o", files[0],
                    "-o", files[1])  # fmt: skip
    assert said.code == 1
    assert "recovery_time: worse than allowed" in said.out
    suite = ElementTree.parse(files[0]).getroot()[0]
    cases = {c.get("name"): c for c in suite.iter("testcase")}
    assert [name for name in cases if str(name).startswith("run ")] == [
        f"run {n}" for n in range(1, 6)
    ]
    assert float(cases["run 1"].get("time", 0)) > 40
    assert float(suite.get("time", 0)) > 200
    assert "service recovered" in suite.findtext("system-out", "")
    message = cases["recovery_time"].find("failure").get("message")  # type: ignore[union-attr]
    assert mentions(str(message), "allowed", "critical")
    failed = {c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None}
    assert {"recovery_time", "blackout", "lost_seconds"} <= failed
    assert suite.get("failures") == str(len(failed))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["brownout.verdict"] == "fail"
    text = files[1].read_text()
    assert text.startswith("### ✗ FAIL: gate of node-kill")
    assert "| service recovered |" in text
    found = json.loads(brownout("gate", "--baseline", pinned, *repeats["slower"], "--json").out)
    recovery = next(c for c in found["comparisons"] if c["measure"] == "recovery_time")
    assert recovery["shift"]["estimate"] == pytest.approx(4.0, abs=0.5)
    assert recovery["p"] <= 0.05


def test_limits_are_judged_without_a_baseline_too(
    brownout: Brownout, home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    said = brownout("gate", *repeats["same"][:2])
    assert said.code == 0
    assert "only the runs' own limits" in said.out
    tight = ({"measure": "blackout", "limit": 0.5, "scope": "total"},)
    bad = build_repeats(home / "runs", 1, 2.9, 4, limits=tight)
    assert brownout("gate", *bad, "-o", home / "tight.xml").code == 1
    suite = ElementTree.parse(home / "tight.xml").getroot()[0]
    assert suite.get("name") == "brownout gate node-kill on lab-mongodb"
    limit = next(c for c in suite.iter("testcase") if c.get("name") == "blackout")
    assert limit.get("classname") == "brownout.node-kill.limit"
    failure = limit.find("failure")
    assert failure is not None
    assert mentions(str(failure.get("message")), "0.5 s", "1 of 1")
    assert "total outage" in limit.findtext("system-out", "")
    assert "total outage" not in str(failure.text)  # people would read it twice


def test_runs_with_other_limits_are_refused_with_each_limit(
    brownout: Brownout, pinned: Path, home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    looser = tuple({**limit, "limit": 99.0} for limit in LIMITS)
    runs = build_repeats(home / "runs", 5, 2.9, 6, limits=looser)
    against = brownout("gate", "--baseline", pinned, *runs)
    assert against.code == 64
    assert f"its limit on {LIMITS[0]['measure']} is {looser[0]['limit']}" in against.err
    assert f"but {LIMITS[0]['limit']} in the baseline" in against.err
    mixed = brownout("gate", *runs[:1], *repeats["same"][:1])
    assert mixed.code == 64
    assert "its limit on" in mixed.err
    mixed_pin = brownout("baseline", "pin", *runs[:2], *repeats["same"][:3], "-o", home / "b.yaml")
    assert mixed_pin.code == 64


def test_a_dropped_limit_is_no_silent_pass(brownout: Brownout, home: Path) -> None:
    drops = [{"measure": "redundancy_time", "limit": 60.0, "limit_from": "--var limits"}]
    runs = build_repeats(home / "runs", 5, 2.9, 7, limits=LIMITS, run={"dropped_limits": drops})
    said = brownout("gate", *runs)
    assert said.code == 2
    words = "the limit on redundancy_time was dropped (--var limits)"
    assert f"{words}, and no baseline says that this is wanted" in said.out
    pinned = brownout("baseline", "pin", *runs, "-o", home / "dropped.yaml")
    assert pinned.code == 0
    again = build_repeats(home / "runs", 5, 2.9, 8, limits=LIMITS, run={"dropped_limits": drops})
    wanted = brownout("gate", "--baseline", home / "dropped.yaml", *again)
    assert wanted.code == 0
    assert f"note: {words}" in wanted.out


def test_a_pinned_file_is_for_people_to_change(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    data = yaml.safe_load(pinned.read_text())
    for compared in data["measures"]:
        ratio = compared["measure"] == "tps_drop"
        compared.update(allowed=0.5 if ratio else 9.0, critical=0.9 if ratio else 10.0)
    pinned.write_text(yaml.safe_dump(data))
    assert brownout("gate", "--baseline", pinned, *repeats["slower"]).code == 0


def test_a_pinned_file_is_not_written_over_by_mistake(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    before = pinned.read_bytes()
    again = brownout("baseline", "pin", *repeats["same"], "-o", pinned)
    assert (again.code, pinned.read_bytes()) == (64, before)
    forced = brownout("baseline", "pin", *repeats["same"], "-o", pinned, "--force",
                      "--measure", "write.blackout")  # fmt: skip
    assert forced.code == 0
    assert [m["measure"] for m in yaml.safe_load(pinned.read_text())["measures"]] == [
        "write.blackout"
    ]


def test_a_baseline_of_another_scenario_is_refused_with_every_difference(
    brownout: Brownout, pinned: Path, home: Path
) -> None:
    other = {"experiment": {"name": "node-wipe", "mode": "kill"}}
    runs = build_repeats(home / "runs", 5, 2.9, 5, run=other, deadline_s=0.5)
    said = brownout("gate", "--baseline", pinned, *runs)
    assert said.code == 64
    assert "scenario is node-wipe, but node-kill in the baseline" in said.err
    assert "deadline_s is 0.5, but 1.0 in the baseline" in said.err


def test_too_few_repeats_are_refused_by_pin_and_by_gate(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]], home: Path
) -> None:
    few = brownout("gate", "--baseline", pinned, *repeats["same"][:4])
    assert (few.code, mentions(few.err, "4 runs", 5)) == (64, True)
    few = brownout("baseline", "pin", *repeats["same"][:4], "-o", home / "few.yaml")
    assert (few.code, mentions(few.err, "4 runs", 5)) == (64, True)
    assert not (home / "few.yaml").exists()


def test_the_baselines_own_runs_and_runs_given_twice_are_refused(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    own = brownout("gate", "--baseline", pinned, *repeats["pinned"])
    assert (own.code, "one of the baseline's own runs" in own.err) == (64, True)
    twice = brownout("gate", "--baseline", pinned, *repeats["same"], repeats["same"][0])
    assert (twice.code, "is given twice" in twice.err) == (64, True)


def test_runs_that_did_not_pass_are_no_baseline(brownout: Brownout, home: Path) -> None:
    runs = build_repeats(home / "runs", 5, 2.9, 6, limits=LIMITS, lag_p99_ms=1400)
    said = brownout("baseline", "pin", *runs, "-o", home / "bad.yaml")
    assert said.code == 64
    assert [run.name for run in runs if run.name not in said.out] == []
    assert mentions(said.err, "0 runs", 5)


def test_an_inconclusive_run_is_named_and_neither_pinned_nor_counted_by_the_gate(
    brownout: Brownout, home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    starved = build_repeats(home / "runs", 2, 2.9, 9, limits=LIMITS, lag_p99_ms=1400)
    pin = brownout("baseline", "pin", *repeats["pinned"], starved[0], "-o", home / "b.yaml")
    assert (pin.code, starved[0].name in pin.out) == (0, True)
    pinned = yaml.safe_load((home / "b.yaml").read_text())
    assert len(pinned["repeats"]) == 5
    gate = brownout("gate", "--baseline", home / "b.yaml", *repeats["same"], starved[1])
    assert (gate.code, starved[1].name in gate.out) == (0, True), gate.out
    four = brownout("gate", "--baseline", home / "b.yaml", *repeats["same"][:4], starved[1])
    assert four.code == 2
    assert mentions(four.out, "make 1 more", starved[1].name)


def test_a_run_of_another_role_with_another_variable_or_another_step_is_refused(
    brownout: Brownout, pinned: Path, home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    experiment = json.loads((repeats["same"][0] / "run.json").read_text())["experiment"]
    for change, name in (
        ({"select": "secondary"}, "target is secondary, but primary in the baseline"),
        ({"variables": {**experiment["variables"], "downtime_s": 1.0}},
         "variables.downtime_s is 1.0, but 5.0 in the baseline"),
        ({"method": ['pause_node {"node": "target"}', *experiment["method"][1:]]},
         'method.0 is pause_node {"node": "target"}, but kill_node {"node": "target"} in the '
         "baseline"),
    ):  # fmt: skip
        other = {"experiment": {**experiment, **change}}
        runs = build_repeats(home / name[:6], 5, 1.0, 5, limits=LIMITS, run=other)
        refused = brownout("gate", "--baseline", pinned, *runs)
        assert refused.code == 64, refused.out
        assert name in refused.err


def test_a_baseline_that_was_edited_is_noticed_and_an_old_one_says_what_to_do(
    brownout: Brownout, pinned: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    data = yaml.safe_load(pinned.read_text())
    _measured(data, "blackout", 9.0)
    pinned.write_text(yaml.safe_dump(data))
    edited = brownout("gate", "--baseline", pinned, *repeats["same"])
    assert (edited.code, mentions(edited.err, pinned, "digest", "allowed")) == (64, True)
    del data["digest"]
    pinned.write_text(yaml.safe_dump({**data, "schema_version": 1}))
    old = brownout("gate", "--baseline", pinned, *repeats["same"])
    assert (old.code, mentions(old.err, pinned, "baseline pin", "--force")) == (64, True)


def test_random_targets_that_met_other_roles_than_the_baselines_are_not_compared(
    home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    def met(role: str, runs: Sequence[Path]) -> Runs:
        evidence = {"role": role}
        finished = []
        for run in Runs.read(runs):
            impact = run.impact
            fault = impact.faults[0]
            events = tuple(
                replace(act, evidence=evidence) if act.type == "break" else act
                for act in fault.events
            )
            experiment = {**impact.experiment, "select": "random"}
            impact = replace(impact, experiment=experiment, faults=(replace(fault, events=events),))
            finished.append(replace(run, impact=impact))
        return Runs(finished)

    baseline = baselines.pin(met("primary", repeats["pinned"]), ["blackout"], 0.2, 0.5)
    fit.check(met("primary", repeats["same"]), baseline)
    with pytest.raises(ConfigurationError, match="5 × secondary"):
        fit.check(met("secondary", repeats["same"]), baseline)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda data: data.pop("repeats"), "repeats"),
        (lambda data: [data.clear(), data.update(a=1)], "pinned: found no"),
        (lambda data: data.update(schema_version=1, repeats=5), "schema_version"),
        (lambda data: data.update(repeats=5), "repeats"),
        (lambda data: data["measures"][0].update(critical=-1), "found -1, wanted at least 0"),
        (lambda data: data["measures"][0].update(measure="speed"), "not a measure"),
        (lambda data: data["measures"][0].update(allowed=9, critical=1), "critical is 1"),
        (lambda data: data["repeats"].pop(), "found 4, wanted at least 5"),
        (lambda data: data["repeats"][0]["values"].pop("blackout"), "not every repeat"),
        (lambda data: data.update(colour="red"), "colour"),
        (lambda data: data["measures"][0].update(critical=math.inf), "finite number"),
        (lambda data: data["measures"][0].update(allowed=math.nan), "finite number"),
        (lambda data: data["measures"][0].update(allowed=True), "found true, wanted a number"),
        (lambda data: _compared(data, "tps_drop").update(critical=1.0), "tps_drop: critical is 1"),
        (lambda data: _compared(data, "blackout").update(critical=1e6), "blackout: critical is 1e"),
        (lambda data: _measured(data, "recovery_time", math.inf, of=3), "not come about in 3"),
        (lambda data: _measured(data, "blackout", -math.inf), "wanted a number of 0 or more"),
        (lambda data: _measured(data, "blackout", math.inf), "wanted a number of 0 or more"),
    ],
)  # fmt: skip
def test_a_baseline_that_was_spoilt_is_refused_in_words(
    change: object, wanted: str, brownout: Brownout, pinned: Path,
    repeats: dict[str, Sequence[Path]],
) -> None:  # fmt: skip
    data = yaml.safe_load(pinned.read_text())
    change(data)  # type: ignore[operator]
    pinned.write_text(yaml.safe_dump(data))
    said = brownout("gate", "--baseline", pinned, *repeats["same"])
    assert said.code == 64
    assert wanted in said.err


@pytest.mark.parametrize("option", ["--allowed", "--critical"])
@pytest.mark.parametrize("share", ["inf", "nan", "-1", "1000"])
def test_an_allowance_that_nothing_could_exceed_is_not_pinned(
    option: str, share: str, brownout: Brownout, home: Path, repeats: dict[str, Sequence[Path]]
) -> None:
    both = (
        ("--critical", share)
        if option == "--critical"
        else ("--allowed", share, "--critical", share)
    )
    said = brownout("baseline", "pin", *repeats["pinned"], "-o", home / "b.yaml", *both)
    assert said.code == 64
    assert "--" in said.err
    assert not (home / "b.yaml").exists()


def test_runs_without_limits_are_refused(brownout: Brownout, pinned: Path, home: Path) -> None:
    runs = build_repeats(home / "runs", 5, 2.9, 7)
    for given in ((), ("--baseline", pinned)):
        said = brownout("gate", *given, *runs)
        assert said.code == 64, said.out
        assert said.err.count("no limit was set") == 5
    said = brownout("baseline", "pin", *runs, "-o", home / "none.yaml")
    assert (said.code, said.err.count("no limit was set")) == (64, 5)


def test_no_yaml_and_no_file_are_refused(brownout: Brownout, home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45))
    (home / "broken.yaml").write_text("a: [1")
    for name in ("broken.yaml", "none.yaml"):
        assert brownout("gate", "--baseline", home / name, run).code == 64
