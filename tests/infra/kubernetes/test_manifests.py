"""The manifests are what Kubernetes wants, agree with each other, and ask for little."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from tests.infra.kubernetes.manifests import HERE, PODS, kustomization, manifest, pod

from brownout import cli
from brownout.base.errors import ExitCode
from brownout.inventory import inventory
from brownout.runs.gameday.gameday_file import read

OURS = ("job.yaml", "cronjob.yaml", "explore.yaml", "volume.yaml", "serviceaccount.yaml")
EXPLORE = "explore.yaml"


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Secret `brownout` holds."""
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2")


@pytest.mark.parametrize("name", OURS)
def test_a_manifest_is_one_for_kubernetes(name: str) -> None:
    newest = kubernetes_validate.latest_version()
    kubernetes_validate.validate(manifest(name), newest, strict=True)


def test_every_manifest_is_joined_or_has_its_reason() -> None:
    there = {path.name for path in HERE.glob("*.yaml")} - {"kustomization.yaml"}
    # A run for each `create`; an exploration for each; a kind of an operator.
    apart = {"job.yaml", EXPLORE, "podmonitor.yaml"}
    assert set(kustomization()["resources"]) == there - apart


@pytest.mark.parametrize("name", [*PODS, EXPLORE])
def test_every_name_that_a_pod_mentions_is_made(name: str) -> None:
    spec, joined = pod(name)["spec"], kustomization()
    made = {each["name"] for each in joined["configMapGenerator"]}
    assert {v["configMap"]["name"] for v in spec["volumes"] if "configMap" in v} <= made
    claims = {v["persistentVolumeClaim"]["claimName"] for v in spec["volumes"] if len(v) == 2
              and "persistentVolumeClaim" in v}  # fmt: skip
    own = set() if name == EXPLORE else {manifest("volume.yaml")["metadata"]["name"]}
    assert claims == own  # one claim is for one pod at a time
    assert spec["serviceAccountName"] == manifest("serviceaccount.yaml")["metadata"]["name"]
    for container in [*spec["initContainers"], *spec["containers"]]:
        sources = {s[kind]["name"] for s in container["envFrom"] for kind in s if kind[-3:] == "Ref"
                   and kind != "secretRef"}  # fmt: skip
        assert sources <= made
        assert [s["secretRef"] for s in container["envFrom"] if "secretRef" in s] == [
            {"name": "brownout", "optional": True}
        ]
    assert joined["generatorOptions"]["disableNameSuffixHash"] is True  # job.yaml is not joined


@pytest.mark.parametrize("name", [*PODS, EXPLORE])
def test_a_pod_may_do_nothing_that_it_need_not(name: str) -> None:
    spec = pod(name)["spec"]
    context = spec["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] == context["fsGroup"] == 10001
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    for container in [*spec["initContainers"], *spec["containers"]]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]
        places = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {"/var/lib/brownout", "/etc/brownout", "/etc/brownout-keys", "/tmp"} == places
    assert manifest("serviceaccount.yaml")["automountServiceAccountToken"] is False


@pytest.mark.parametrize("name", PODS)
def test_a_pod_heals_first_has_time_to_put_back_and_is_not_started_again(name: str) -> None:
    spec = manifest(name)["spec"]
    job = spec.get("jobTemplate", {"spec": spec})["spec"]
    template = job["template"]["spec"]
    assert job["backoffLimit"] == 0
    assert template["restartPolicy"] == "Never"
    assert template["terminationGracePeriodSeconds"] >= 600
    assert job["activeDeadlineSeconds"] > template["terminationGracePeriodSeconds"]
    assert [each["args"] for each in template["initContainers"]] == [["brownout", "heal"]]
    assert spec.get("concurrencyPolicy", "Forbid") == "Forbid"


def test_both_pods_are_the_same_but_for_what_they_run() -> None:
    job, day = (pod(name) for name in PODS)
    (runs,), (holds) = job["spec"]["containers"], day["spec"]["containers"][0]
    assert runs.pop("args")[0] == "chaos"
    assert holds.pop("args")[0] == "brownout"
    assert job == day


def test_an_exploration_has_a_share_for_each_index_and_repeats_only_what_died() -> None:
    job = manifest(EXPLORE)["spec"]
    assert (job["completionMode"], job["template"]["spec"]["restartPolicy"]) == ("Indexed", "Never")
    (container,) = job["template"]["spec"]["containers"]
    arguments = container["args"]
    assert f"--share=job/{job['completions']}" in arguments
    assert job["parallelism"] == job["completions"]
    (name,) = [each for each in container["env"] if each["name"] == "NAME"]
    assert "--name=$(NAME)" in arguments
    assert "batch.kubernetes.io/job-name" in name["valueFrom"]["fieldRef"]["fieldPath"]
    (rule,) = [each for each in job["podFailurePolicy"]["rules"] if each["action"] == "FailIndex"]
    ends = {ExitCode.FAIL, ExitCode.INCONCLUSIVE, ExitCode.UNDO_FAILED, ExitCode.BAD_INPUT}
    assert rule["onExitCodes"]["values"] == sorted(map(int, ends))
    assert job["backoffLimitPerIndex"] > 0


def test_the_pod_of_an_exploration_is_that_of_a_run_but_for_what_it_runs() -> None:
    run, explored = pod("job.yaml"), pod(EXPLORE)
    for template in (run, explored):
        spec = template["spec"]
        spec["volumes"] = [each for each in spec["volumes"] if each["name"] != "brownout"]
        for container in [*spec["initContainers"], *spec["containers"]]:
            container["env"] = [each for each in container["env"] if each["name"] != "NAME"]
        spec["containers"][0].pop("args")
    assert explored == run


def test_the_metrics_are_where_the_pod_says(secret: None) -> None:
    listens = inventory.declared(str(HERE / "settings" / "shop.yaml")).observe.listen
    for name in PODS:
        template = pod(name)
        (port,) = template["spec"]["containers"][0]["ports"]
        assert listens == f"0.0.0.0:{port['containerPort']}"
        notes = template["metadata"]["annotations"]
        assert notes["prometheus.io/port"] == str(port["containerPort"])
        assert notes["prometheus.io/scrape"] == "true"
        (endpoint,) = manifest("podmonitor.yaml")["spec"]["podMetricsEndpoints"]
        assert endpoint["port"] == port["name"]
        chosen = manifest("podmonitor.yaml")["spec"]["selector"]["matchLabels"]
        assert chosen.items() <= template["metadata"]["labels"].items()


def test_the_pods_call_what_there_is(secret: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_CLUSTERS", str(HERE / "settings"))
    day = read(str(HERE / "settings" / "gameday.yaml"))
    assert day.cluster == "shop"
    args = pod("cronjob.yaml")["spec"]["containers"][0]["args"]
    assert args[-1] == "/etc/brownout/gameday.yaml"
    assert _known(args[1:-1])
    args = pod(EXPLORE)["spec"]["containers"][0]["args"]
    assert _known([args[1], *(word.partition("=")[0] for word in args[3:])])
    experiment = pod("job.yaml")["spec"]["containers"][0]["args"][-2]
    assert (HERE.parents[1] / "experiments" / Path(experiment).name).is_file()
    assert str(Path(experiment).parent) == "/opt/brownout/experiments"
    files = kustomization()["configMapGenerator"][0]["files"]
    assert {HERE / name for name in files} == {*(HERE / "settings").glob("*.yaml")}


def _known(words: list[str]) -> bool:
    command: Any = cli.command()
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return set(words) <= {option for parameter in command.params for option in parameter.opts}
