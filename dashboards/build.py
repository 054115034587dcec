"""From the builders to JSON that any Grafana from 11.6 on imports as it is."""

import json
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from brownout.dashboards import (
    aerospike,
    cassandra,
    compare,
    etcd,
    game_day,
    mongodb,
    postgresql,
    redis,
    run,
)

__all__ = ["dashboards", "text_of"]

MODULES = (game_day, run, compare, aerospike, cassandra, etcd, mongodb, postgresql, redis)


def dashboards() -> Iterator[dict[str, Any]]:
    """Yield each dashboard as plain JSON data, in the form of Grafana's own types.

    The SDK writes nulls and settings of other kinds of variables, which these do not have, and
    keeps an annotation's query where only old versions of Grafana look for it.
    """
    for module in MODULES:
        built = json.loads(JSONEncoder().encode(module.dashboard().build()))
        for annotation in built["annotations"]["list"]:
            _move_query(annotation)
        _number(built["panels"])
        for variable in built["templating"]["list"]:
            for name in _OF_INTERVALS:
                variable.pop(name, None)
        yield _without_nulls(built)


def text_of(dashboard: dict[str, Any]) -> str:
    """Return the text of a dashboard's file."""
    return json.dumps(dashboard, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


_OF_INTERVALS = ("auto", "auto_count", "auto_min")


def _number(panels: list[dict[str, Any]]) -> None:
    """Give each panel an id by its row and title, so that a link to it holds in a later version."""
    row = ""
    for panel in panels:
        row = panel["title"] if panel["type"] == "row" else row
        panel["id"] = crc32(f"{row}/{panel['title']}".encode()) >> 8


def _move_query(annotation: dict[str, Any]) -> None:
    query = {"expr": annotation.pop("expr")} if "expr" in annotation else annotation["target"]
    annotation["target"] = {**query, "refId": "Anno"}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
