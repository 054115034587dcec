"""The chart's documents as YAML, with a comment above each variable. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

__all__ = ["documents", "text"]

_NAME = re.compile(r"^(\s*)- name: ([A-Z][A-Z0-9_]+)$", re.MULTILINE)
_WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Writes lists indented, as Kubernetes' own manifests are, and never an anchor."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def text(document: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return a document; `comments` are by the variable that they stand above."""
    yaml_text = yaml.dump(
        dict(document), Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True
    )
    notes = comments or {}

    def commented(match: re.Match[str]) -> str:
        indent, name = match.groups()
        return f"{indent}# {notes[name]}\n{match[0]}" if name in notes else match[0]

    return "---\n" + _NAME.sub(commented, yaml_text)


def documents(several: Iterable[Mapping[str, Any]]) -> str:
    """Return several documents as one file."""
    return "".join(text(document) for document in several)
