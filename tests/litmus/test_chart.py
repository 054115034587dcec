"""The chart holds together, and every file of it is what Litmus takes."""

import json
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.docs.documents import ROOT
from tests.litmus.definitions import mistakes

from brownout import cli
from brownout.base import catalog
from brownout.judge import slo
from brownout.litmus.chart import chart
from brownout.litmus.chart_parts import ACCOUNT, FAULTS, IMAGE, VARIABLES
from brownout.litmus.declarations import declared_limits
from brownout.litmus.variables import LENGTHS

HUB = ROOT / "infra" / "litmus"
CATEGORY = HUB / "faults" / "brownout"
NAMES = [fault.name for fault in FAULTS]
Document = dict[str, Any]


def read(path: Path) -> Document:
    loaded: Document = yaml.safe_load(path.read_text())
    return loaded


def test_the_files_are_what_is_made_of_the_experiments() -> None:
    made = chart()
    there = {str(path.relative_to(HUB)) for path in HUB.rglob("*.yaml")}
    assert there == set(made)
    assert [name for name, text in made.items() if (HUB / name).read_text() != text] == []


def test_a_chart_of_another_image_is_written_out_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["litmus", "chart", str(tmp_path / "hub"), "--image", "mine:1"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'hub'}\n"
    for path in (tmp_path / "hub").rglob("fault.yaml"):
        assert read(path)["spec"]["definition"]["image"] == "mine:1"
    icons = {path.name for path in (tmp_path / "hub/faults/brownout/icons").iterdir()}
    assert icons == {f"{name}.png" for name in (*NAMES, "brownout")}


@pytest.mark.parametrize("name", NAMES)
def test_experiment_and_engine_have_no_field_that_litmus_does_not_know(name: str) -> None:
    assert mistakes(read(CATEGORY / name / "fault.yaml")) == []
    assert mistakes(read(CATEGORY / name / "engine.yaml")) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e["spec"].update(engineState="paused"), "'paused' is not one of"),
        (
            lambda e: e["spec"].update(jobCleanupPolicy="retain"),
            "'jobCleanupPolicy' was unexpected",
        ),
        (lambda e: e["spec"].pop("chaosServiceAccount"), "'chaosServiceAccount' is a required"),
    ],
)
def test_what_litmus_would_not_take_is_found(change: Any, said: str) -> None:
    engine = read(CATEGORY / "node-kill" / "engine.yaml")
    change(engine)
    (mistake,) = mistakes(engine)
    assert said in mistake


@pytest.mark.parametrize("name", NAMES)
def test_names_agree_in_every_file_of_a_fault(name: str) -> None:
    fault, engine = read(CATEGORY / name / "fault.yaml"), read(CATEGORY / name / "engine.yaml")
    version = read(CATEGORY / name / f"{name}.chartserviceversion.yaml")
    definition = fault["spec"]["definition"]
    (started,) = engine["spec"]["experiments"]
    assert (fault["kind"], engine["kind"]) == ("ChaosExperiment", "ChaosEngine")
    assert version["kind"] == "ChartServiceVersion"
    names = (fault["metadata"]["name"], started["name"], version["metadata"]["name"])
    assert names == (name, name, name)
    assert definition["args"] == ["litmus", "run", name]
    assert name in catalog.names("experiments")
    assert engine["spec"]["chaosServiceAccount"] == ACCOUNT
    (icon,) = version["spec"]["icon"]
    assert (CATEGORY / icon["url"]).read_bytes().startswith(b"\x89PNG")


def test_the_category_lists_every_fault_and_no_other() -> None:
    version, package = (
        read(CATEGORY / f"brownout.{kind}.yaml") for kind in ("chartserviceversion", "package")
    )
    assert [fault["name"] for fault in version["spec"]["faults"]] == NAMES
    assert [fault["name"] for fault in package["faults"]] == NAMES
    for fault in package["faults"]:
        assert (CATEGORY / fault["name"] / fault["CSV"]).is_file()
    together = list(yaml.safe_load_all((CATEGORY / "experiments.yaml").read_text()))
    assert together == [read(CATEGORY / name / "fault.yaml") for name in NAMES]
    assert {e["spec"]["definition"]["image"] for e in together} == {IMAGE}
    job = read(ROOT / "infra" / "kubernetes" / "job.yaml")  # one image for all that runs in pods
    assert [c["image"] for c in job["spec"]["template"]["spec"]["containers"]] == [IMAGE]


@pytest.mark.parametrize("name", NAMES)
def test_every_variable_is_one_of_the_experiment_and_is_explained(name: str) -> None:
    configuration = json.loads(catalog.read("experiments", name))["configuration"]
    read_there = {v["key"] for v in configuration.values() if isinstance(v, dict) and "key" in v}
    text = (CATEGORY / name / "fault.yaml").read_text()
    environment = [each["name"] for each in read(CATEGORY / name / "fault.yaml")["spec"]
                   ["definition"]["env"]]  # fmt: skip
    page = (ROOT / "docs" / "litmus.md").read_text()
    litmus = {"RAMP_TIME"} | (
        {"TOTAL_CHAOS_DURATION"} if set(LENGTHS) & set(configuration) else set()
    )
    told_every_run = {"WORKLOAD", "LOAD", "TARGET", "SEED", "CONFIRM", "BASELINE_S", "CANARY"}
    assert set(environment) == read_there | litmus | {f"BROWNOUT_{name}" for name in told_every_run}
    for variable in environment:
        assert f"# {VARIABLES[variable]}\n" in text
        assert f"| `{variable}` |" in page


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_of_an_engine_are_those_of_its_experiment(name: str) -> None:
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    limits = slo.file_limits(name, fault.database)
    (started,) = read(CATEGORY / name / "engine.yaml")["spec"]["experiments"]
    probes = started["spec"]["probe"]
    wanted = {
        limit.measure if limit.scope == "total" else f"{limit.scope}.{limit.measure}": limit.limit
        for limit in limits
    }
    assert declared_limits(probes, limits, []) == wanted
    assert len(wanted) > 2


def test_accounts_may_do_what_is_needed_and_no_more() -> None:
    found = list(yaml.safe_load_all((HUB / "rbac.yaml").read_text()))
    for document in found:
        kubernetes_validate.validate(document, "1.34", strict=True)
    roles = {d["metadata"]["name"]: d["rules"] for d in found if d["kind"] == "Role"}
    for name in NAMES:
        assert (
            read(CATEGORY / name / "fault.yaml")["spec"]["definition"]["permissions"]
            == (roles[ACCOUNT])
        )
    for rules in roles.values():
        for rule in rules:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
            assert "pods/exec" not in rule["resources"]
