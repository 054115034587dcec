"""Engines as an experiment gives them, and what they and their results say of how far they are."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import answers, changed, damaged, fuzzed
from tests.litmus.definitions import mistakes

from brownout.base.errors import ConfigurationError
from brownout.faults.litmus import engine_status, manifest

Document = dict[str, Any]
ENV = {"TOTAL_CHAOS_DURATION": "30", "FORCE": "true"}
APP = {"appns": "shop", "applabel": "app=web", "appkind": "deployment"}
ENGINE = manifest.from_parts("web", "pod-delete", "pod-delete-sa", ENV, APP)
TEXT = yaml.safe_dump(ENGINE).encode()


def written(tmp_path: Path, document: Any) -> str:
    path = tmp_path / "engine.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return str(path)


def test_parts_make_an_engine_that_litmus_takes() -> None:
    assert mistakes(ENGINE) == []
    listed = ENGINE["spec"]["experiments"][0]["spec"]["components"]["env"]
    assert listed == [{"name": name, "value": value} for name, value in ENV.items()]
    text = manifest.from_parts("web", "pod-delete", "sa", "A=1, B=x=y", {})
    assert [e["value"] for e in text["spec"]["experiments"][0]["spec"]["components"]["env"]] == [
        "1", "x=y"
    ]  # fmt: skip


def test_parts_that_are_missing_are_all_said() -> None:
    with pytest.raises(ConfigurationError) as raised:
        manifest.from_parts("", "", "", {}, {})
    assert len(raised.value.problems) == 3
    with pytest.raises(ConfigurationError, match="env: found 'A', wanted NAME=VALUE"):
        manifest.from_parts("web", "pod-delete", "sa", "A", {})


def test_it_is_read_marked_and_made_active_and_nothing_else_is_changed(tmp_path: Path) -> None:
    stopped = {**ENGINE, "spec": {**ENGINE["spec"], "engineState": "stop"}}
    path = written(tmp_path, stopped)
    engine = manifest.marked(manifest.from_file(path), "chaos", "m1")
    assert engine["spec"] == ENGINE["spec"]
    assert engine["metadata"] == {
        "name": "web", "namespace": "chaos", "annotations": {manifest.MARK: "m1"}
    }  # fmt: skip
    assert manifest.place("", path, "") == ("default", "web")
    assert manifest.place("other", "", "chaos") == ("chaos", "other")
    assert manifest.only_experiment(path) == "pod-delete"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({**ENGINE, "kind": "ChaosExperiment"}, "kind: found 'ChaosExperiment'"),
        ({**ENGINE, "apiVersion": "v1"}, "apiVersion: found 'v1'"),
        ({**ENGINE, "metadata": {}}, "metadata.name: missing"),
        ({**ENGINE, "spec": {"experiments": [{}]}}, "spec.experiments: wanted a list"),
        (
            {**ENGINE, "metadata": {"name": "web", "annotations": ["x"]}},
            "metadata.annotations: wanted a mapping",
        ),
        ("- a", "found a list; wanted a mapping"),
        ("a: [", "not valid YAML"),
        ("a: 1\n---\nb: 2", "not valid YAML: but found another document"),
    ],
)
def test_a_file_that_is_no_engine_says_what_it_lacks(
    document: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        manifest.from_file(written(tmp_path, document))
    assert said in str(raised.value)
    assert str(tmp_path) in str(raised.value)


def test_a_place_that_nobody_named_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="neither a name nor a manifest"):
        manifest.place("", "", "")
    with pytest.raises(ConfigurationError, match="No such file"):
        manifest.from_file(str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigurationError, match="experiment: missing"):
        manifest.only_experiment("")


@fuzzed()
@given(data=damaged(TEXT))
def test_fuzz_a_damaged_manifest_is_read_or_refused(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged-engine.yaml"
    path.write_bytes(data)
    engine = answers(lambda: manifest.from_file(str(path)))
    if engine is not None:
        assert manifest.experiments_of(manifest.marked(engine, "n", "m"))


@fuzzed()
@given(odd=changed(ENGINE))
def test_fuzz_other_parts_than_wanted_are_read_or_refused(
    odd: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd-engine.yaml"
    path.write_text(yaml.safe_dump(odd))
    engine = answers(lambda: manifest.from_file(str(path)))
    if engine is not None:
        assert answers(lambda: manifest.marked(engine, "n", "m"))


# -- how far it is ------------------------------------------------------------------------------


def engine(status: str, state: str = "active") -> Document:
    return {
        "metadata": {"name": "web", "uid": "u-1"},
        "spec": {"engineState": state},
        "status": {"engineStatus": status} if status else {},
    }


def result(verdict: str = "Awaited", uid: str = "u-1", **metadata: Any) -> Document:
    meta = {"name": "web-pod-delete", "labels": {"chaosUID": uid}, **metadata}
    return {"metadata": meta, "status": {"experimentStatus": {"verdict": verdict}}}


@pytest.mark.parametrize(
    ("status", "state", "over"),
    [
        ("", "active", ""),
        ("initialized", "active", ""),
        ("initialized", "stop", ""),
        ("stopped", "stop", "stopped"),
        ("completed", "stop", "completed"),
        ("", "stop", "never begun"),
    ],
)
def test_an_engine_is_over_when_its_operator_says_so(status: str, state: str, over: str) -> None:
    assert engine_status.is_over(engine(status, state)) == over


def test_a_target_that_is_hit_is_known_by_annotation_and_by_history() -> None:
    noted = result(annotations={"pod/web-0": "injected", "note": "by hand"})
    kept = result()
    kept["status"]["history"] = {
        "targets": [{"kind": "pod", "name": "web-1", "chaosStatus": "reverted"}]
    }
    waiting = result(annotations={"pod/web-0": "targeted"})
    assert engine_status.injected_by([noted], "u-1") == "pod/web-0 injected"
    assert engine_status.injected_by([waiting, kept], "u-1") == "pod/web-1 reverted"
    assert engine_status.injected_by([waiting], "u-1") == ""
    assert engine_status.injected_by([noted], "u-2") == ""  # of an earlier engine of that name


def test_what_will_never_inject_is_told_with_litmus_words() -> None:
    missing = engine("initialized")
    missing["status"]["experiments"] = [
        {"name": "pod-delete", "status": "ChaosExperiment Not Found"}
    ]
    assert engine_status.failed(missing, []) == {
        "pod-delete": "pod-delete: ChaosExperiment Not Found"
    }
    broken = result("Error")
    broken["status"]["experimentStatus"]["errorOutput"] = {"errorCode": "X", "reason": "no pod"}
    assert engine_status.failed(engine("initialized"), [broken]) == {
        "pod-delete": "web-pod-delete: X no pod"
    }
    assert engine_status.failed(engine("initialized"), [result("Error", uid="u-0")]) == {}
    hit = result("Error", annotations={"pod/web-0": "reverted"})
    assert engine_status.failed(engine("initialized"), [hit]) == {}


@given(share=st.sampled_from(["Awaited", "", None, "100", "66"]))
def test_a_percentage_is_a_number_or_nothing(share: Any) -> None:
    found = result()
    found["status"]["experimentStatus"]["probeSuccessPercentage"] = share
    value = engine_status.summary(found)["probe_success_percentage"]
    assert value == (float(share) if share and share != "Awaited" else None)
