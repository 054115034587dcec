"""The pages that are made from the code: what the registries know, in tables.

Nothing is explained here: what a thing is for stands with the thing, in its help, its docstring
or its description, and in docs/*.md.
"""

import ast
import html
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from brownout import cli, discover
from brownout.cli.schemas import schema
from brownout.measure.measures import measures
from brownout.session.options import SETTINGS

__all__ = ["layers", "pages"]

_MADE = "*Made from the code of this version.*"


def pages(root: Path) -> dict[str, str]:
    """Return every page by its name; `root` is the checkout."""
    return {
        "architecture.md": architecture(root),
        "reference/activities.md": activities(),
        "reference/commands.md": commands(),
        "reference/inventory.md": schema_page("inventory", "../clusters.md"),
        "reference/measures.md": measure_page(),
        "reference/settings.md": settings(),
        "reference/workload.md": schema_page("workload", "../workloads.md"),
    }


def commands() -> str:
    """Return each command with its help, arguments and options."""
    parts = ["# Every command", _MADE, "[Commands](../commands.md) explains them."]
    for words, command in _commands(cli.command(), ("brownout",)):
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        arguments = [p for p in shown if p.param_type_name == "argument"]
        usage = " ".join([*words, *(_metavar(p) for p in arguments)])
        options = [
            (f"`{', '.join([*p.opts, *p.secondary_opts])}`", _default(p), p.help or "")
            for p in shown
            if p.param_type_name == "option" and "--help" not in p.opts
        ]
        parts += [f"## `{usage}`", (command.help or "").replace("\b", "").strip()]
        parts += _table(("option", "default", "what it does"), options)
    return _joined(parts)


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", {})
    # A group that does something by itself is a command too.
    if not children or (len(words) > 1 and command.invoke_without_command):
        yield words, command
    for name, child in children.items():
        if not child.hidden:
            yield from _commands(child, (*words, name))


def _metavar(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).strip("[].…")
    name += "…" if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _default(option: Any) -> str:
    value = option.default
    if value in (None, "", (), [], False) or callable(value) or type(value).__name__ == "Sentinel":
        return ""
    return f"`{value}`"


def activities() -> str:
    """Return each action and probe by its module, with its arguments."""
    parts = ["# Every activity", _MADE, "[Experiments](../experiments.md#actions) explains them."]
    module = ""
    for found in discover()["activities"]:
        if found["mod"] != module:
            module = found["mod"]
            parts.append(f"## {module}")
        arguments = [
            (f"`{a['name']}`", a["type"], f"`{json.dumps(a['default'])}`" if "default" in a else "")
            for a in found["arguments"]
            if a["name"] not in ("configuration", "secrets")
        ]
        parts += [f"### `{found['name']}` ({found['type']})", found["doc"]]
        parts += _table(("argument", "type", "default"), arguments)
    return _joined(parts)


def measure_page() -> str:
    """Return each measure with its label, unit and what can be asked of it."""
    rows = [
        (
            f"`{name}`",
            one.label,
            one.unit,
            one.better,
            "each stream" if one.scope == "each" else "the cluster",
            "yes" if one.limitable else "no",
            f"[{one.anchor}](../measures.md#{one.anchor})" if "/" not in one.anchor else one.anchor,
        )
        for name, one in sorted(measures().items())
    ]
    columns = ("measure", "label", "unit", "better", "of", "limit", "defined")
    return _joined(["# Every measure", _MADE, *_table(columns, rows)])


def settings() -> str:
    """Return each setting of a run."""
    rows = [
        (
            f"`{one.name}`",
            f"`{one.environment or 'BROWNOUT_LIMIT_<MEASURE>'}`",
            _shown(one.default),
            one.means,
        )
        for one in SETTINGS.values()
    ]
    columns = ("setting", "environment", "default", "what it means")
    about = "[Experiments](../experiments.md#settings) explains how they are given."
    return _joined(["# Every setting of a run", _MADE, about, *_table(columns, rows)])


def schema_page(kind: str, page: str) -> str:
    """Return the JSON schema of a kind of file as one table for each of its parts."""
    found = schema(kind)
    parts = [f"# The schema of {'inventories' if kind == 'inventory' else 'workloads'}", _MADE,
             f"[{page[3:-3].capitalize()}]({page}) explains it; `brownout schema {kind}` prints it "
             "for editors."]  # fmt: skip
    for name, part in ({"the file": found} | found.get("$defs", {})).items():
        parts += [f"## {name}", part.get("description", "")]
        required = part.get("required", [])
        rows = [
            (
                f"`{field}`",
                _type(shape),
                "required" if field in required else _shown(shape.get("default")),
                shape.get("description", ""),
            )
            for field, shape in part.get("properties", {}).items()
        ]
        one_of = [_type(each) for each in part.get("oneOf", part.get("anyOf", []))]
        parts += [f"One of {', '.join(one_of)}."] if one_of else []
        parts += _table(("field", "type", "default", "what it is"), rows)
    return _joined(parts)


def _type(shape: Mapping[str, Any]) -> str:
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for many in ("anyOf", "oneOf"):
        if many in shape:
            names = [_type(each) for each in shape[many] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(names))
    if "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape["enum"])
    if "const" in shape:
        return f"`{shape['const']}`"
    if shape.get("type") == "array":
        return f"list of {_type(shape.get('items', {}))}"
    if shape.get("type") == "object" and set(shape.get("properties", {})) <= {
        "env",
        "file",
        "secret",
    }:
        return "/".join(shape.get("properties", {})) or "mapping"
    least, most = shape.get("minimum", shape.get("exclusiveMinimum")), shape.get("maximum")
    bounds = [
        f"from {least}" if least is not None else "",
        f"to {most}" if most is not None else "",
    ]
    return " ".join([str(shape.get("type", "anything")), *filter(None, bounds)])


def _shown(value: Any) -> str:
    return (
        "" if value in (None, "", [], {}) or isinstance(value, dict) else f"`{json.dumps(value)}`"
    )


def architecture(root: Path) -> str:
    """Return the layers of the code as a picture; who may import whom is the linter's contract."""
    rows = []
    for row in layers(root):
        rooms = [
            f"<div><b>{name}</b>{html.escape(about).replace('`', '')}</div>" for name, about in row
        ]
        rows.append(f'<div class="layer">{"".join(rooms)}</div>')
    return _joined([
        "# Architecture",
        "The rooms of `src/brownout`, drawn from the contract that `make lint` checks. "
        "[What's here](whats-here.md) leads through them in the order of a run, and the "
        "[decisions](decisions/README.md) say why it is so.",
        f'<div class="layers">{"".join(rows)}</div>',
        "The load generator is a program of its own, in Go: [the load generator](generator.md).",
    ])  # fmt: skip


def layers(root: Path) -> list[list[tuple[str, str]]]:
    """Return each layer from the top down: the names of its rooms, and what each says it is."""
    contract = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    (found,) = contract["tool"]["importlinter"]["contracts"]
    return [
        [(name, _about(root / "src" / "brownout", name)) for name in row.split(" : ")]
        for row in found["layers"]
    ]


def _about(package: Path, name: str) -> str:
    path = package / name / "__init__.py"
    path = path if path.is_file() else package / f"{name}.py"
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    lines = [columns, ["---"] * len(columns), *rows]
    cells = [[str(cell).replace("\n", " ").replace("|", "\\|") for cell in line] for line in lines]
    return ["\n".join(f"| {' | '.join(line)} |" for line in cells)]


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
