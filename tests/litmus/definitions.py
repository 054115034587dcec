"""The custom resources of Litmus as these tests know them, and documents held against them."""

from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

__all__ = ["CRDS", "mistakes"]

CRDS: list[dict[str, Any]] = [
    yaml.safe_load(path.read_text())
    for path in sorted((Path(__file__).parent / "crds").glob("*.yaml"))
]


def mistakes(document: dict[str, Any]) -> list[str]:
    """Return what the resource definition of its kind does not allow; an unknown field too."""
    (crd,) = [c for c in CRDS if c["spec"]["names"]["kind"] == document["kind"]]
    (version,) = crd["spec"]["versions"]
    schema = _strict(version["schema"]["openAPIV3Schema"])
    found = Draft202012Validator(schema).iter_errors(document)
    return [f"{'.'.join(map(str, error.path))}: {error.message}" for error in found]


def _strict(schema: Any) -> Any:
    """Return it as one that allows only what it names; a real server drops the rest in silence."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items()}
    named = "properties" in schema and schema.get("type") == "object"
    if named and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    return made
