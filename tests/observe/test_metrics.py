"""What a run tells Prometheus: conventions kept, everything documented, nothing made up."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.loadgen.driving import Load, Server, specification, stream
from tests.prometheus import promtool
from tests.run_builder import RunScript, build_run

from brownout.measure.document import read_impact
from brownout.observe.compose import RunFacts, compose
from brownout.observe.labels import LABELS
from brownout.observe.page import Page
from brownout.observe.state import PHASES, RunState
from brownout.run.directory import RunDirectory
from brownout.run.events import Event
from brownout.show.live.files import RunFiles

DOCUMENT, _ = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text().split("## Game days")
ROW = re.compile(r"^\| `(brownout_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
BEGAN = 1_800_000_000.0


def state_of(path: Path, *, judged: bool) -> RunState:
    """Return what a run directory says to metrics."""
    files = RunFiles(path)
    known = RunFacts(record=files.record(), events=files.events(), series=files.series())
    impact = read_impact(RunDirectory.open(path)) if judged else None
    return RunState(files.record(), compose(known), files.events(), BEGAN, impact)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunState:
    limits = ({"measure": "recovery_time", "limit": 10.0, "scope": "total"},)
    script = RunScript(duration_s=48, limits=limits)
    return state_of(build_run(tmp_path_factory.mktemp("run"), script), judged=True)


def _text(state: RunState) -> str:
    return Page(lambda: state, lambda: "").metrics()


def _families(text: str) -> dict[str, Any]:
    found = {family.name: family for family in text_string_to_metric_families(text)}
    return {
        name + ("_total" if family.type == "counter" else ""): family
        for name, family in found.items()
    }


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The metrics of a real generator under a load that fails now and then."""
    place = tmp_path_factory.mktemp("load")
    script = {"effects": [{"at": 0, "for": 60, "effect": "error", "share": 0.2}]}
    labels = dict.fromkeys(LABELS[1:], "x")
    with Server(place, script) as server, Load() as generator:
        spec = specification(server, place / "run", stream(), labels=labels)
        generator.begin(spec)
        generator.until(1.2)
        return str(generator.ask("metrics", "metrics", id=1)["text"])


def test_the_table_has_every_metric_and_no_other(finished: RunState, load: str) -> None:
    told = _families(_text(finished) + load)
    ours = {name: family for name, family in told.items() if name.startswith("brownout_")}
    documented = {
        row[0]: (row[1], set(re.findall(r"`(\w+)`", row[2]))) for row in ROW.findall(DOCUMENT)
    }
    assert set(ours) == set(documented)
    for name, family in ours.items():
        kind, labels = documented[name]
        assert family.type == kind, name
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == {*LABELS, *labels}, name


def test_prometheus_finds_nothing_to_mend(finished: RunState, load: str) -> None:
    ours = "".join(
        line
        for line in (_text(finished) + load).splitlines(keepends=True)
        if re.match(r"(# \w+ )?brownout_", line)
    )
    checked = promtool("check", "metrics", text=ours)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_what_is_not_known_yet_is_absent_and_not_zero(finished: RunState) -> None:
    early = replace(finished, impact=None, events=finished.events[:1], started_at=None)
    told = _families(_text(early))
    assert not [
        name for name in told if "impact" in name or ("ledger" in name and told[name].samples)
    ]
    assert told["brownout_fault_in_progress"].samples == []
    assert "brownout_run_start_time_seconds" not in told
    assert _one(told["brownout_run_verdict"]) == "pending"


def test_a_fault_has_a_beginning_an_end_and_then_is_over(finished: RunState) -> None:
    told = _families(_text(finished))
    (start,) = told["brownout_fault_start_time_seconds"].samples
    (end,) = told["brownout_fault_end_time_seconds"].samples
    assert start.labels["fault"] == end.labels["fault"] == "kill_node"
    assert 25 < start.value - BEGAN < end.value - BEGAN < 30
    (now,) = told["brownout_fault_in_progress"].samples
    assert now.value == 0
    mended = next(e for e in finished.events if e.type == "mend")
    before = [e for e in finished.events if e is not mended]
    told = _families(_text(replace(finished, events=before)))
    (now,) = told["brownout_fault_in_progress"].samples
    assert now.value == 1


def test_what_leaves_its_node_at_work_is_over_with_itself(finished: RunState) -> None:
    """A step-down, or a member that is added: nothing waits there to be mended."""
    undos = (("step_down_primary", {"action": "undrain_node"}), ("sudden", None))
    events = [
        Event(90 + n, "break", name, "n2", effective=30.1, ended=30.2, undo=undo)
        for n, (name, undo) in enumerate(undos)
    ]
    found = list(replace(finished, events=events).faults())
    assert [(fault.name, fault.end) for fault in found] == [(name, 30.2) for name, _ in undos]


def test_an_outage_lasts_until_it_is_ended(finished: RunState) -> None:
    began = Event(90, "break", "start_outage", effective=30.0, ended=30.2,
                  undo={"action": "end_outage"})  # fmt: skip
    other = Event(91, "mend", "recluster", effective=31.0)
    ended = Event(92, "mend", "end_outage", effective=40.0)
    for events, end in (([began, other], None), ([began, other, ended], 40.0)):
        (fault,) = replace(finished, events=events).faults()
        assert fault.end == end


def test_the_judged_run_has_its_measures_in_base_units(finished: RunState) -> None:
    told, impact = _families(_text(finished)), finished.impact
    assert impact is not None
    seconds = {
        (s.labels["measure"], s.labels["scope"]): s.value
        for s in told["brownout_impact_seconds"].samples
    }
    (fault,) = impact.faults
    assert seconds["recovery_time", "total"] == pytest.approx(fault.number("recovery_time"))
    p99 = fault.number("latency.during.p99_us")
    assert p99 is not None
    assert seconds["latency.during.p99", "total"] == pytest.approx(p99 / 1e6)
    assert _one(told["brownout_run_verdict"]) == impact.verdict
    writes = {s.labels["fate"]: s.value for s in told["brownout_ledger_writes"].samples}
    assert writes["acknowledged"] == impact.ledger.acknowledged > 0
    assert (writes["in_doubt"], writes["in_doubt_applied"], writes["in_doubt_absent"]) == (1, 1, 0)


def test_a_stand_in_is_told_from_a_database_on_every_metric(finished: RunState) -> None:
    record = {**finished.record, "cluster": {**finished.record["cluster"], "stand_in": True}}
    for state, told in ((finished, "false"), (replace(finished, record=record), "true")):
        families = _families(_text(state)).values()
        samples = [sample for family in families for sample in family.samples]
        assert {sample.labels["stand_in"] for sample in samples} == {told}


def test_phases_follow_the_events(finished: RunState) -> None:
    early = replace(finished, impact=None)
    seen = []
    for n in range(len(early.events) + 1):
        phase = replace(early, events=early.events[:n]).phase
        if phase not in seen:
            seen.append(phase)
    assert seen == [phase for phase in PHASES if phase in seen]
    assert {"opening", "method", "readback"} <= set(seen)
    assert finished.phase == "judged"


def _one(family: Any) -> str:
    """The state that is 1."""
    (name,) = [
        next(v for k, v in s.labels.items() if k not in LABELS) for s in family.samples if s.value
    ]
    return str(name)
