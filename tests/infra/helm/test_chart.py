"""The Helm chart of the nightly job: rendered by helm itself, and applied to a real API server."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate
import pytest
import yaml
from tests.infra.kubernetes.manifests import HERE, ROOT, manifest
from tests.wording import mentions

if TYPE_CHECKING:
    from tests.control_plane import ControlPlane

CHART = ROOT / "infra" / "helm" / "brownout"
#: Files of our manifests that give no right of its own.
NO_ACT = {"kustomization", "service-account"}
ACTS = tuple(sorted({file.stem for file in (HERE / "rbac").glob("*.yaml")} - NO_ACT))
Document = dict[str, Any]
Render = Callable[..., list[Document]]


def helm() -> str:
    """The program: named by BROWNOUT_HELM, built by `make build/helm`, or in PATH."""
    built = ROOT / "build" / "helm"
    program = os.environ.get("BROWNOUT_HELM") or (str(built) if built.is_file() else "")
    program = program or shutil.which("helm") or ""
    if not program:
        pytest.skip("NOT TESTED: helm is not installed; `make build/helm` builds it")
    return program


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([helm(), *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def render(tmp_path: Path) -> Render:
    """Render the chart, as release `nightly` in the namespace `chaos`, with values."""

    def template(refused: bool = False, **values: Any) -> list[Document]:
        settings = {"gameday.yaml": "title: t\n", "shop.yaml": "database: mongodb\n"}
        file = tmp_path / "values.yaml"
        file.write_text(yaml.safe_dump({"settings": settings, **values}))
        words = ("--namespace", "chaos", "--kube-version", "1.31.0", "-f", str(file))
        done = run("template", "nightly", str(CHART), *words)
        assert (done.returncode != 0) is refused, done.stderr
        if refused:
            return [{"error": done.stderr}]
        return [each for each in yaml.safe_load_all(done.stdout) if each]

    return template


def test_ci_builds_helm_so_that_these_tests_run_there() -> None:
    words = (ROOT / ".ci" / "run").read_text().split()
    assert "build/helm" in words[: words.index("test")]


def kinds(documents: list[Document]) -> dict[str, Document]:
    return {f"{each['kind']} {each['metadata']['name']}": each for each in documents}


def test_the_chart_has_no_mistakes_that_helm_finds() -> None:
    done = run("lint", "--strict", str(CHART), "--set-file", "settings.gameday\\.yaml=/dev/null")
    assert done.returncode == 0, done.stdout


def test_every_object_is_one_for_kubernetes(render: Render) -> None:
    newest = kubernetes_validate.latest_version()
    for document in render(rights={"acts": list(ACTS), "namespace": "databases"}):
        kubernetes_validate.validate(document, newest, strict=True)


@pytest.mark.parametrize("values", [{"volume": {"enabld": False}}, {"shedule": "0 3 * * *"}])
def test_a_value_that_the_chart_does_not_have_is_refused(
    values: dict[str, Any], render: Render
) -> None:
    (said,) = render(refused=True, **values)
    assert mentions(said["error"], "additional properties", next(iter(values)))


def test_a_pod_gets_as_long_to_put_back_as_the_values_say(render: Render) -> None:
    for documents, seconds in ((render(), 600), (render(terminationGracePeriodSeconds=3600), 3600)):
        (job,) = [each for each in documents if each["kind"] == "CronJob"]
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] == seconds


def without_names(pod: Document) -> Document:
    """A pod's spec but for the names of the objects that it uses, which follow the release."""
    pod.pop("serviceAccountName")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    volumes["brownout"]["persistentVolumeClaim"].pop("claimName")
    volumes["settings"]["configMap"].pop("name")
    for container in [*pod["initContainers"], *pod["containers"]]:
        container["envFrom"][0]["configMapRef"].pop("name", None)
        container["imagePullPolicy"] = "IfNotPresent"
    return pod


def test_the_job_is_that_of_our_manifests(render: Render) -> None:
    ours, theirs = manifest("cronjob.yaml")["spec"], kinds(render())["CronJob nightly"]["spec"]
    one, other = (each.pop("jobTemplate")["spec"] for each in (ours, theirs))
    assert {**theirs, "schedule": ""} == {**ours, "schedule": ""}
    pods = [without_names(job.pop("template")["spec"]) for job in (one, other)]
    assert other == one
    assert pods[1] == pods[0]


def test_the_account_has_no_rights_and_no_token_unless_some_are_named(render: Render) -> None:
    objects = kinds(render())
    assert set(objects) == {
        "ServiceAccount nightly", "ConfigMap nightly-settings", "ConfigMap nightly-environment",
        "PersistentVolumeClaim nightly", "CronJob nightly",
    }  # fmt: skip
    assert objects["ServiceAccount nightly"]["automountServiceAccountToken"] is False
    assert objects["ConfigMap nightly-settings"]["data"]["shop.yaml"] == "database: mongodb\n"
    for namespace in {each["metadata"]["namespace"] for each in objects.values()}:
        assert namespace == "chaos"


@pytest.mark.parametrize("act", ACTS)
def test_a_right_is_exactly_that_of_our_manifests(render: Render, act: str) -> None:
    role, _ = yaml.safe_load_all((HERE / "rbac" / f"{act}.yaml").read_text())
    objects = kinds(render(rights={"acts": [act], "namespace": "databases"}))
    mine = objects[f"{role['kind']} nightly-{act}"]
    binding = objects[f"{role['kind']}Binding nightly-{act}"]
    assert mine["rules"] == role["rules"]
    assert binding["roleRef"]["name"] == mine["metadata"]["name"]
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "nightly", "namespace": "chaos"}
    ]
    if role["kind"] == "Role":
        assert mine["metadata"]["namespace"] == binding["metadata"]["namespace"] == "databases"
    pod = objects["CronJob nightly"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is True


def test_runs_may_be_kept_in_an_object_store_or_on_a_claim_of_ones_own(render: Render) -> None:
    store = kinds(render(volume={"enabled": False},
                         environment={"BROWNOUT_STORE": "s3://evidence/brownout"}))  # fmt: skip
    assert "PersistentVolumeClaim nightly" not in store
    spec = store["CronJob nightly"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert spec["volumes"][0] == {"name": "brownout", "emptyDir": {}}
    data = store["ConfigMap nightly-environment"]["data"]
    assert data == {"BROWNOUT_STORE": "s3://evidence/brownout"}
    own = kinds(render(volume={"existingClaim": "evidence"}))
    spec = own["CronJob nightly"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert spec["volumes"][0]["persistentVolumeClaim"] == {"claimName": "evidence"}
    assert "PersistentVolumeClaim nightly" not in own


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"volume": {"enabled": False}}, ["volume.enabled", "BROWNOUT_STORE"]),
        ({"settings": {"shop.yaml": "database: etcd"}}, ["gameday.yaml", "--set-file"]),
        ({"rights": {"acts": ["everything"]}}, ["rights.acts", "everything", *ACTS]),
    ],
)
def test_values_that_cannot_work_are_refused_in_words(
    render: Render, values: Document, names: list[str]
) -> None:
    (said,) = render(refused=True, **values)
    assert mentions(said["error"], *names), said["error"]


@pytest.mark.kubernetes
def test_a_real_api_server_takes_all_of_it_and_gives_no_more_than_it_says(
    render: Render, control_plane: "ControlPlane"
) -> None:
    release, databases = control_plane.new_namespace(), control_plane.new_namespace()
    documents = render(rights={"acts": ["look", "stop"], "namespace": databases})
    text = yaml.safe_dump_all(documents).replace("namespace: chaos", f"namespace: {release}")
    control_plane.kubectl("apply", "-f", "-", stdin=text)

    def can(verb: str, what: str, namespace: str = databases) -> bool:
        """Whether the release's account has one of the rights that the server lists for it."""
        account = f"--as=system:serviceaccount:{release}:nightly"
        listed = control_plane.kubectl("auth", "can-i", "--list", account, "-n", namespace)
        rows = [line for line in listed.splitlines() if line.split()[:1] == [what]]
        return any(verb in re.findall(r"\[([^\]]*)\]\s*$", row)[0].split() for row in rows)

    assert can("patch", "pods")
    assert can("create", "pods/exec")
    assert not can("create", "pods")
    assert not can("get", "secrets")
    assert not can("patch", "pods", namespace=release)
    control_plane.kubectl("create", "job", "tonight", "--from=cronjob/nightly", "-n", release)
    made = control_plane.kubectl("get", "job", "tonight", "-n", release, "-o", "yaml")
    template = yaml.safe_load(made)["spec"]["template"]["spec"]
    assert template["containers"][0]["args"][:3] == ["brownout", "gameday", "run"]
