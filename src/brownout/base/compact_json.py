"""Writes JSON so that an experiment fits on one screen.

    "method": [
      {"type": "action", "name": "kill-the-node",
       "provider": {"type": "python", "module": "brownout.actions.node", "func": "kill_node"}},

A value that fits stays on one line. Otherwise the document and its blocks put each entry on a line
of its own, and deeper objects fill their lines. Every experiment is written this way.
"""

import json
from typing import Any

__all__ = ["compact"]

#: The longest line, in characters.
WIDTH = 128
#: Down to this depth, each entry has a line of its own.
_BLOCKS = 2


def compact(data: Any) -> str:
    """Return `data` as compact JSON that ends with a line feed."""
    return _text(data, 0, 0) + "\n"


def _text(value: Any, depth: int, column: int, after: int = 1) -> str:
    """Return a value that begins at `column`, with `after` characters behind it on its line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return flat
    if column + len(flat) + after <= WIDTH and depth > 0 and not _settings(value, depth):
        return flat
    if isinstance(value, list) or depth < _BLOCKS:
        return _block(value, depth)
    return _filled(value, depth, column, after)


def _settings(value: Any, depth: int) -> bool:
    """Whether this is a block of settings, as `configuration`: each is looked for on its own."""
    return depth == 1 and isinstance(value, dict) and len(value) > 1


def _block(value: Any, depth: int) -> str:
    """Write each entry on a line of its own."""
    indent = "  " * (depth + 1)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = [
        f"{indent}{key}{_text(each, depth + 1, len(indent) + len(key))}"
        for key, each in _entries(value)
    ]
    return f"{opening}\n" + ",\n".join(lines) + f"\n{'  ' * depth}{closing}"


def _filled(value: Any, depth: int, column: int, after: int) -> str:
    """Fill lines with entries."""
    lines, line, last = [], "{", len(value) - 1
    for number, (key, each) in enumerate(_entries(value)):
        behind = 1 if number < last else 1 + after
        entry = key + json.dumps(each, ensure_ascii=False)
        if line not in ("{", " ") and column + len(line) + 1 + len(entry) + behind > WIDTH:
            lines.append(line)
            line = " "
        if column + len(line) + len(entry) + behind > WIDTH:
            entry = key + _text(each, depth + 1, column + len(line) + len(key), behind)
        line += ("" if line in ("{", " ") else " ") + entry + ("," if number < last else "}")
    return f"\n{' ' * column}".join([*lines, line])


def _entries(value: Any) -> list[tuple[str, Any]]:
    """Return each entry with what stands before it: its key, or in a list nothing."""
    if isinstance(value, dict):
        return [(json.dumps(key, ensure_ascii=False) + ": ", each) for key, each in value.items()]
    return [("", each) for each in value]
