"""JSON schemas of the YAML files, for editors that complete and check while one types.

Made from the very models that read the files. Only what two settings mean for each other is not
in them; `brownout check` says that.
"""

import functools
from typing import Any, Literal

__all__ = ["Kind", "schema"]

Kind = Literal["workload", "inventory", "limits", "gameday", "book", "comparison"]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: How a secret stands in a file: where it is, never what it is.
_REFERENCE = {
    "description": "where the secret is, never the secret itself",
    "oneOf": [
        {
            "type": "object",
            "properties": {kind: {"type": "string"}},
            "required": [kind],
            "additionalProperties": False,
        }
        for kind in ("env", "file", "secret")
    ],
}


@functools.cache
def schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON schema of a kind of file, the same object each time: do not modify it."""
    makers = {"workload": _workload, "inventory": _inventory, "limits": _limits,
            "gameday": _gameday, "book": _book, "comparison": _comparison}[kind]()  # fmt: skip
    return {"$schema": _DIALECT, "title": f"brownout {kind}", **makers}


def _workload() -> dict[str, Any]:
    from brownout.load.workload import Workload

    whole: dict[str, Any] = _with_references(Workload.model_json_schema())
    return whole


def _inventory() -> dict[str, Any]:
    """The cluster's schema, with the settings of every kind of host and of lab that is installed.

    A host of a kind that is not installed may have any settings: they are not known here.
    """
    from brownout.base import plugins
    from brownout.inventory.model import Cluster
    from brownout.machine.host import host_class, unavailable_hosts

    plain = Cluster.model_json_schema()
    parts = plain["$defs"]
    hosts, unavailable = [], unavailable_hosts()
    for kind in plugins.known(plugins.HOSTS):
        hosts.append({"$ref": f"#/$defs/host_{kind}"})
        if kind in unavailable:
            parts[f"host_{kind}"] = {
                "type": "object",
                "properties": {"kind": {"const": kind}},
                "required": ["kind"],
            }
            continue
        own = host_class(kind).Spec.model_json_schema(ref_template="#/$defs/{model}")
        parts.update(own.pop("$defs", {}))
        parts[f"host_{kind}"] = own
    parts["HostSpec"] = {"oneOf": hosts}
    parts["LabSpec"] = {"oneOf": _labs(parts)}
    # The name may be left out: it is then that of the file.
    plain["required"] = [name for name in plain.get("required", []) if name != "name"]
    whole: dict[str, Any] = _with_references(plain)
    return whole


def _labs(parts: dict[str, Any]) -> list[dict[str, str]]:
    """Put the settings of every kind of lab among the `parts`; return references to them."""
    from brownout.inventory.database import databases

    kinds = []
    for name, one in databases().items():
        for engine, kind in one.labs.items():
            own = kind.settings.model_json_schema(ref_template="#/$defs/{model}")
            parts.update(own.pop("$defs", {}))
            called = f"lab_{name}_{engine}"
            parts[called] = own
            kinds.append({"$ref": f"#/$defs/{called}"})
    return kinds


def _gameday() -> dict[str, Any]:
    from brownout.runs.gameday.spec import GameDay

    whole = GameDay.model_json_schema()
    parts, steps = whole["$defs"], whole["properties"]["experiments"]
    # A step may stand as its name alone, and the day's name is that of the file.
    steps["items"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Step"}]}
    whole["required"] = [name for name in whole["required"] if name != "name"]
    parts["Notify"]["properties"]["url"] = _REFERENCE
    return whole


def _book() -> dict[str, Any]:
    from brownout.runs.book.spec import Book

    whole = Book.model_json_schema()
    # The book's name is that of the file, if it has none.
    whole["required"] = [name for name in whole["required"] if name != "name"]
    return whole


def _comparison() -> dict[str, Any]:
    from brownout.runs.clients.spec import Comparison

    whole = Comparison.model_json_schema()
    # The comparison's name is that of the file, if it has none.
    whole["required"] = [name for name in whole["required"] if name != "name"]
    return whole


def _with_references(part: Any, name: str = "") -> Any:
    """Put a reference wherever the models have a secret; a URI may also stand there plainly."""
    if isinstance(part, dict):
        if part.get("format") == "password":
            return {"anyOf": [{"type": "string"}, _REFERENCE]} if name == "uri" else _REFERENCE
        return {key: _with_references(value, key if key != "anyOf" else name)
                for key, value in part.items()}  # fmt: skip
    return [_with_references(item, name) for item in part] if isinstance(part, list) else part


def _limits() -> dict[str, Any]:
    from brownout.judge.slo_checks import FIELDS
    from brownout.measure.measures import limit_names, measures

    plain = [name for name in limit_names() if "<" not in name]
    scales = {scale for measure in measures().values() for scale in measure.unit.scales}
    families = [
        r"^latency(_all)?\.(before|during|after)\.(p50|p99|p999|max)_us$",
        r"^time_above\.(p50|p99|p999|max)_[1-9]\d*(us|ms|s)$",
    ]
    fields = {
        "measure": {"anyOf": [{"enum": plain}, *({"pattern": each} for each in families)]},
        "scope": {"type": "string", "description": "total, read, write or a stream; total if none"},
        "limit": {"type": "number", "minimum": 0},
        "unit": {"enum": sorted(scales)},
        "why": {"type": "string", "minLength": 1, "description": "the reason of the limit"},
    }
    item = {
        "type": "object",
        "properties": {name: fields[name] for name in FIELDS},
        "required": ["measure", "limit", "why"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}
