"""Every question that a dashboard or a rule asks of Prometheus, with its variables filled in."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

__all__ = ["DASHBOARDS", "RULES", "Question", "filled", "of_dashboards", "of_rules"]

ROOT = Path(__file__).resolve().parents[2] / "dashboards"
DASHBOARDS = sorted((ROOT / "grafana").glob("*.json"))
RULES = sorted((ROOT / "rules").glob("*.yaml"))


@dataclass(frozen=True)
class Question:
    """PromQL, and where it stands."""

    where: str
    expression: str


def of_dashboards() -> Iterator[Question]:
    """Yield what panels and annotations ask; variables stand in it as they are written."""
    for path in DASHBOARDS:
        dashboard = json.loads(path.read_text())
        for panel in _panels(dashboard["panels"]):
            for target in panel.get("targets", []):
                yield Question(f"{path.stem}: {panel['title']}", target["expr"])
        for annotation in dashboard["annotations"]["list"]:
            if "expr" in annotation["target"]:
                name = f"{path.stem}: annotation {annotation['name']}"
                yield Question(name, annotation["target"]["expr"])


def of_rules() -> Iterator[Question]:
    """Yield what rules ask; an alert, which is silent while all is well, tells 0 or 1 here."""
    for path in RULES:
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                told = re.sub(r" (==|<|>) ", r" \1 bool ", rule["expr"])
                yield Question(f"{path.stem}: {rule.get('record') or rule['alert']}", told)


def filled(expression: str, values: Mapping[str, str]) -> str:
    """Return the expression as Grafana sends it. Raises `KeyError` for an unknown variable."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda m: values[m[1] or m[2]], expression)


def _panels(panels: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for panel in panels:
        yield panel
        yield from _panels(panel.get("panels", []))
