"""The way to a Kubernetes cluster: which configuration counts, and what an error tells."""

import socket
from pathlib import Path

import kubernetes.client
import pytest
import yaml
from pydantic import ValidationError

from brownout.base.errors import ConfigurationError, HostError
from brownout.kubernetes import access
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.problems import asking

_TOKEN = "a-token-that-nobody-may-see"


def _kubeconfig(path: Path, **contexts: str) -> Path:
    """Write a kubeconfig with a cluster and a context for each `name=server`."""
    known = [{"name": n, "cluster": {"server": server}} for n, server in contexts.items()]
    made = [{"name": n, "context": {"cluster": n, "user": "me"}} for n in contexts]
    users = [{"name": "me", "user": {"token": _TOKEN}}]
    first = next(iter(contexts))
    data = {"clusters": known, "contexts": made, "users": users, "current-context": first}
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **data}))
    return path


@pytest.fixture(autouse=True)
def _no_cluster_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr(access, "KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "default"))


def test_a_kubeconfig_says_where_the_cluster_is_and_its_context_which_one(tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path / "config", one="https://one:6443", two="https://two:6443")
    assert connect(Access(kubeconfig=file)).configuration.host == "https://one:6443"
    assert connect(Access(kubeconfig=file, context="two")).configuration.host == "https://two:6443"


def test_without_a_kubeconfig_it_is_the_one_of_kubectl(tmp_path: Path) -> None:
    _kubeconfig(tmp_path / "default", usual="https://usual:6443")
    assert connect(Access()).configuration.host == "https://usual:6443"


def test_a_pod_needs_no_kubeconfig_and_reads_its_token_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text(_TOKEN)
    authority.write_text("a certificate")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(access, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_CERT_FILENAME", str(authority))
    with pytest.raises(HostError, match=r"certificate|PEM|SSL"):
        _ask(Access())  # it took the pod's, and that is no certificate
    file = _kubeconfig(tmp_path / "config", one="https://one:6443")
    assert connect(Access(kubeconfig=file)).configuration.host == "https://one:6443"


def test_where_no_cluster_is_known_it_says_where_it_looked() -> None:
    with pytest.raises(ConfigurationError, match=r"this is not a pod, and there is no .*default"):
        connect(Access())


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = _kubeconfig(tmp_path / "config", one="https://one:6443")
    with pytest.raises(ConfigurationError, match=f"{file}.*object with name other") as raised:
        connect(Access(kubeconfig=file, context="other"))
    assert _TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clusters: [", "not valid YAML in line"),
        ("", "empty"),
        ("just words", "it is not a kubeconfig"),
        (
            f"users: [{{user: {{token: {_TOKEN}}}}}]\ncurrent-context: a\n",
            "Expected object with name a",
        ),
        (f"contexts: [{{name: a, token: {_TOKEN}}}]\ncurrent-context: a\n", "Expected key context"),
    ],
)
def test_what_is_no_kubeconfig_is_told_without_what_it_holds(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=said) as raised:
        connect(Access(kubeconfig=file))
    assert str(file) in str(raised.value)
    assert _TOKEN not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_file_that_is_missing_or_a_namespace_that_cannot_be_is_found_before(
    tmp_path: Path,
) -> None:
    with pytest.raises(ValidationError, match="wanted a file that exists"):
        Access(kubeconfig=tmp_path / "nowhere")
    with pytest.raises(ValidationError, match="namespace"):
        Access(namespace="../kube-system")


def test_a_server_that_does_not_answer_is_named_and_no_secret_with_it(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        server = f"http://127.0.0.1:{unused.getsockname()[1]}"
        file = _kubeconfig(tmp_path / "config", gone=server)
        with pytest.raises(HostError, match=f"{server} does not answer: .*refused") as raised:
            _ask(Access(kubeconfig=file))
    assert _TOKEN not in str(raised.value)


def _ask(wanted: Access) -> None:
    with connect(wanted) as client, asking(client, "listing the namespaces"):
        client.configuration.retries = False
        kubernetes.client.CoreV1Api(client).list_namespace()
