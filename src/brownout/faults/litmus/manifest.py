"""A ChaosEngine as an experiment of ours gives it: a manifest's file, or its parts. Pure.

What is made of it is active, is marked as ours, and says what it is watched and stopped by.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import parse_yaml, read_text

__all__ = ["API_VERSION", "MARK", "Document", "experiments_of", "from_file", "from_parts", "marked"]
__all__ += ["only_experiment", "place"]

Document = dict[str, Any]
API_VERSION = "litmuschaos.io/v1alpha1"
#: The annotation of an engine that a run of ours made: only such a one is ever stopped or removed.
MARK = "brownout/made-by"


def from_file(path: str) -> Document:
    """Read the one ChaosEngine of a YAML file; `ConfigurationError` with all that is wrong."""
    document = parse_yaml(read_text(Path(path), "manifest"), f"manifest {path}")
    problems = list(_problems(document))
    if problems:
        raise ConfigurationError([f"manifest {path}: {problem}" for problem in problems])
    return document


def from_parts(
    name: str,
    experiment: str,
    service_account: str,
    env: Mapping[str, Any] | str,
    app: Mapping[str, str],
) -> Document:
    """Make a ChaosEngine of one experiment; `app` has appns, applabel and appkind where wanted."""
    given = {"name": name, "experiment": experiment, "service_account": service_account}
    missing = [key for key, value in given.items() if not value]
    if missing:
        raise ConfigurationError(
            [f"{key}: missing" for key in missing], "give these, or the file of a `manifest`"
        )
    listed = [{"name": key, "value": value} for key, value in _pairs(env).items()]
    components = {"components": {"env": listed}} if listed else {}
    spec: Document = {
        "engineState": "active",
        "chaosServiceAccount": service_account,
        "experiments": [{"name": experiment, "spec": components}],
    }
    wanted = {key: value for key, value in app.items() if value}
    if wanted:
        spec["appinfo"] = wanted
    return {
        "apiVersion": API_VERSION,
        "kind": "ChaosEngine",
        "metadata": {"name": name},
        "spec": spec,
    }


def place(name: str, manifest: str, namespace: str) -> tuple[str, str]:
    """Return namespace and name of an engine that is named, or whose manifest is."""
    if not name and not manifest:
        raise ConfigurationError("found neither a name nor a manifest, wanted one of them")
    metadata = from_file(manifest)["metadata"] if manifest else {}
    own = str(metadata.get("namespace") or "default")
    return namespace or own, name or str(metadata["name"])


def only_experiment(manifest: str) -> str:
    """Return the experiment of a manifest that has one; `ConfigurationError` for several."""
    names = experiments_of(from_file(manifest)) if manifest else []
    if len(names) != 1:
        raise ConfigurationError(
            f"experiment: missing, and the manifest has {len(names)}", "give the one that is meant"
        )
    return names[0]


def marked(engine: Mapping[str, Any], namespace: str, mark: str) -> Document:
    """Return it active, in `namespace`, and with our mark; nothing else of it is changed."""
    metadata = dict(engine["metadata"])
    annotations = {**(metadata.get("annotations") or {}), MARK: mark}
    metadata |= {"namespace": namespace, "annotations": annotations}
    return {**engine, "metadata": metadata, "spec": {**engine["spec"], "engineState": "active"}}


def experiments_of(engine: Mapping[str, Any]) -> list[str]:
    """Return the names of its experiments."""
    return [str(each["name"]) for each in engine["spec"]["experiments"]]


def _problems(document: Document) -> Iterator[str]:
    """Name what keeps a document from being a ChaosEngine; the rest the API server says."""
    for key, wanted in (("apiVersion", API_VERSION), ("kind", "ChaosEngine")):
        if document.get(key) != wanted:
            yield f"{key}: found {document.get(key)!r}, wanted {wanted!r}"
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        yield "metadata.name: missing"
    elif not isinstance(metadata.get("annotations") or {}, dict):
        yield "metadata.annotations: wanted a mapping"
    listed = spec.get("experiments") if isinstance(spec, dict) else None
    named = isinstance(listed, list) and all(isinstance(e, dict) and e.get("name") for e in listed)
    if not listed or not named:
        yield "spec.experiments: wanted a list of experiments, each with its name"


def _pairs(env: Mapping[str, Any] | str) -> dict[str, str]:
    """Read a mapping, or `A=1,B=2` as a variable gives it."""
    if isinstance(env, Mapping):
        return {str(key): str(value) for key, value in env.items()}
    parts = [part for part in env.split(",") if part.strip()]
    bad = [part for part in parts if "=" not in part]
    if bad:
        raise ConfigurationError([f"env: found {part!r}, wanted NAME=VALUE" for part in bad])
    pairs = (part.partition("=") for part in parts)
    return {key.strip(): value.strip() for key, _, value in pairs}
