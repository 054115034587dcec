"""YAML as servers written in C++ and Go read it: tabs may stand where PyYAML wants spaces."""

import re
from typing import Any

import yaml

__all__ = ["read_yaml"]

#: Tabs after something in a line; at its beginning they are an error for all.
_TABS = re.compile(r"(?<=\S)[ \t]*\t[ \t]*")


def read_yaml(text: str) -> Any:
    """Return what a YAML text says; raises `yaml.YAMLError` for one that servers refuse, too."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return yaml.safe_load(_TABS.sub(" ", text))
