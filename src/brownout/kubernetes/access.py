"""How a Kubernetes cluster is reached, and a client of its API.

    kubeconfig: ~/.kube/config
    context: staging
    namespace: databases

Without a `kubeconfig` it is the cluster that we are a pod of, if we are one, otherwise the default
kubeconfig (`KUBECONFIG`, `~/.kube/config`). `docs/kubernetes.md` explains every setting.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import yaml
from kubernetes.client import ApiClient, Configuration
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config
from kubernetes.config.incluster_config import SERVICE_HOST_ENV_NAME, SERVICE_TOKEN_FILENAME
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION
from pydantic import Field

from brownout.base.errors import ConfigurationError
from brownout.base.settings import LocalFile, Settings

__all__ = ["TIMEOUT_S", "Access", "Label", "connect"]

#: For one answer of the API server, where a call does not say otherwise.
TIMEOUT_S = 30.0

#: What the API calls a label of the DNS (RFC 1123).
Label = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]


class Access(Settings):
    """One namespace of one Kubernetes cluster."""

    kubeconfig: Annotated[
        LocalFile | None, Field(description="by default our own pod's cluster, or kubectl's file")
    ] = None
    context: Annotated[
        str | None, Field(min_length=1, description="of the kubeconfig; by default its current one")
    ] = None
    namespace: Annotated[Label, Field(description="where it all is")] = "default"


class _Client(ApiClient):  # type: ignore[misc]
    """The official client, which by itself waits for an answer for ever."""

    def call_api(self, *arguments: Any, _request_timeout: Any = None, **named: Any) -> Any:
        timeout = _request_timeout or TIMEOUT_S
        return super().call_api(*arguments, _request_timeout=timeout, **named)


def connect(access: Access) -> ApiClient:
    """Return a client of the cluster; nothing is asked yet.

    It is for one thread, and `close()` ends it. A call without a `_request_timeout` has one of
    `TIMEOUT_S`; `problems.asking` turns what fails into our errors. Raises `ConfigurationError`
    with the file and what is wrong with it, and never with what it holds.
    """
    configuration = Configuration()
    if access.kubeconfig is None and access.context is None and _in_cluster():
        where = "the service account of this pod"
        _load(where, load_incluster_config, client_configuration=configuration)
    else:
        file = str(access.kubeconfig or _default_file())
        _load(
            f"kubeconfig {file}",
            load_kube_config,
            config_file=file,
            context=access.context,
            client_configuration=configuration,
            persist_config=False,
        )
    return _Client(configuration)


def _in_cluster() -> bool:
    return bool(os.environ.get(SERVICE_HOST_ENV_NAME)) and Path(SERVICE_TOKEN_FILENAME).is_file()


def _default_file() -> str:
    """Return kubectl's file or files; those that are missing do not count."""
    default = str(KUBE_CONFIG_DEFAULT_LOCATION)
    files = default.split(os.pathsep)
    if not any(file and Path(file).expanduser().is_file() for file in files):
        raise ConfigurationError(
            "kubernetes: no cluster is known: `kubeconfig` names none, this is not a pod, and "
            f"there is no {default}",
            "name a `kubeconfig`, or set KUBECONFIG",
        )
    return default


def _load(where: str, load: Any, **named: Any) -> None:
    """Have the client read its configuration; what the file holds stays out of any message."""
    try:
        load(**named)
    except (ConfigException, yaml.YAMLError, OSError, ValueError) as error:
        raise ConfigurationError(
            f"kubernetes: {where} cannot be used: {_reason(error)}",
            "`kubectl config view` shows what is in it, without its secrets",
        ) from None
    except (AttributeError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"kubernetes: {where} cannot be used: it is not a kubeconfig ({type(error).__name__})"
        ) from None


def _reason(error: Exception) -> str:
    """Return why, without the part of the file that the client names in a message, as a token."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"not valid YAML in line {error.problem_mark.line + 1}: {error.problem}"
    if isinstance(error, yaml.YAMLError):
        return "not valid YAML"
    return " ".join(str(error).split("/{")[0].split())
