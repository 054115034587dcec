"""Everything that can be said to brownout is documented, by its name."""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from tests.docs.documents import ROOT

from brownout import cli, discover
from brownout.base import catalog
from brownout.cli.scaffold import variables
from brownout.measure import MeasureSettings
from brownout.measure.measures import limit_names
from brownout.session.options import SETTINGS

COMMANDS = (ROOT / "docs" / "commands.md").read_text()
EXPERIMENTS = (ROOT / "docs" / "experiments.md").read_text()
CODE = ("src", "actions", "probes", "infra", "loadgen", "Makefile", "experiments", "tools")
KINDS = (".py", ".go", ".json", "", ".yaml")


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, child in getattr(command, "commands", {}).items():
        if not hasattr(child, "commands"):
            yield (*path, name), child
        yield from _commands(child, (*path, name))


ALL = list(_commands(cli.command()))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_every_command_and_option_is_documented(path: tuple[str, ...], command: Any) -> None:
    headings = re.findall(r"^### `brownout (.+?)`$", COMMANDS, re.MULTILINE)
    named = [heading for heading in headings if _means(heading, path)]
    assert named, f"docs/commands.md has no section on {' '.join(path)}"
    section = COMMANDS.split(f"### `brownout {named[0]}`")[1].split("\n## ")[0].split("\n### ")[0]
    options = [
        option
        for parameter in command.params
        if parameter.param_type_name == "option"
        for option in parameter.opts
    ]
    missing = [option for option in options if f"`{option}" not in section and option != "--help"]
    assert missing == []


def _means(heading: str, path: tuple[str, ...]) -> bool:
    """Whether `lab up|down [NAME]` means `lab down`."""
    words = heading.split()
    return len(words) >= len(path) and all(
        name in word.split("|") for name, word in zip(path, words, strict=False)
    )


def test_options_of_all_commands_are_documented() -> None:
    for option in ("--version", "--install-completion", "--show-completion"):
        assert option in COMMANDS


@pytest.mark.parametrize(
    "activity", discover()["activities"], ids=lambda found: f"{found['mod']}.{found['name']}"
)
def test_every_activity_and_argument_is_documented(activity: dict[str, Any]) -> None:
    name = f"{activity['mod'].rpartition('.')[2]}.{activity['name']}"
    (row,) = [line for line in EXPERIMENTS.splitlines() if line.startswith(f"| `{name}` |")]
    arguments = {argument["name"] for argument in activity["arguments"]}
    missing = [a for a in arguments - {"configuration", "secrets"} if f"`{a}`" not in row]
    assert missing == []


def _variables() -> dict[str, Any]:
    import json

    found: dict[str, Any] = {}
    for name in catalog.names("experiments"):
        found |= json.loads(catalog.read("experiments", name))["configuration"]
    return found


@pytest.mark.parametrize("name", sorted(_variables()))
def test_every_variable_of_an_experiment_is_documented(name: str) -> None:
    value = _variables()[name]
    (row,) = [line for line in EXPERIMENTS.splitlines() if line.startswith(f"| `{name}` |")]
    if isinstance(value, dict) and "key" in value:
        assert f"`{value['key']}`" in row
    assert name in variables()  # what the README of `brownout new` says of it


def test_the_settings_are_documented_as_they_are_in_the_code() -> None:
    section = EXPERIMENTS.split("\n## Settings\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    documented = [(row[0], row[1], row[-1]) for row in rows]
    assert documented == [
        (
            setting.name,
            setting.environment or "BROWNOUT_LIMIT_<MEASURE>",
            str(setting.default).lower() if setting.default not in ("", ()) else "empty",
        )
        for setting in SETTINGS.values()
    ]


@pytest.mark.parametrize("name", [s.environment for s in SETTINGS.values() if s.environment])
def test_the_environment_variable_of_every_setting_is_documented(name: str) -> None:
    assert f"| `{name}` |" in COMMANDS


@pytest.mark.parametrize("name", catalog.names("experiments"))
def test_every_experiment_is_documented(name: str) -> None:
    assert f"| `{name}` |" in EXPERIMENTS


def _environment_variables() -> Iterator[str]:
    files: Iterable[Any] = (
        path
        for part in CODE
        for path in ((ROOT / part).rglob("*") if (ROOT / part).is_dir() else [ROOT / part])
    )
    for path in files:
        product = path.suffix in KINDS and not path.name.endswith("_test.go")
        if path.is_file() and product and "bin" not in path.parts:
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            yield from re.findall(r"\bBROWNOUT_[A-Z_]*[A-Z]_?\b", text)


@pytest.mark.parametrize("name", sorted(set(_environment_variables())))
def test_every_environment_variable_is_documented(name: str) -> None:
    for prefix, rest in (("BROWNOUT_LIMIT_", "<MEASURE>"), ("BROWNOUT_SECRET_", "<SCOPE>_<NAME>")):
        name = prefix + rest if name.startswith(prefix) else name
    assert f"| `{name}` |" in COMMANDS


def _settings(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        yield name
        yield from (s for part in _models(field.annotation) for s in _settings(part, seen))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _workload_settings() -> list[str]:
    from brownout.load.workload import Workload

    return sorted(set(_settings(Workload, set())))


def _inventory_settings() -> list[tuple[str, str]]:
    from brownout.base import plugins
    from brownout.inventory.model import Cluster
    from brownout.inventory.observation import ObserveSpec
    from brownout.machine.host import host_class

    plain = sorted(set(_settings(Cluster, {ObserveSpec})))
    found = [("clusters.md", name) for name in plain]
    found += [("dashboards.md", name) for name in sorted(set(_settings(ObserveSpec, set())))]
    pages = {"docker": "docker.md", "kubernetes": "kubernetes.md", "ssh": "ssh.md"}
    for kind in plugins.known(plugins.HOSTS):
        own = sorted(set(_settings(host_class(kind).Spec, set())) - set(plain))
        found += [(pages.get(kind, "clusters.md"), name) for name in own]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("name", _workload_settings())
def test_every_setting_of_a_workload_is_documented(name: str) -> None:
    assert _names(ROOT / "docs" / "workloads.md", name)


@pytest.mark.parametrize(("page", "name"), _inventory_settings())
def test_every_setting_of_an_inventory_is_documented(page: str, name: str) -> None:
    # A lab's own settings stand with the lab, the guards with safety, Atlas's with Atlas.
    pages = {page, "atlas.md", "clusters.md", "lab.md", "safety.md"}
    assert any(_names(ROOT / "docs" / each, name) for each in pages)


def _gameday_settings() -> list[str]:
    from brownout.runs.gameday.spec import GameDay

    return sorted(set(_settings(GameDay, set())))


def _book_settings() -> list[str]:
    from brownout.runs.book.spec import Book, Published

    return sorted({*_settings(Book, set()), *_settings(Published, set())})


@pytest.mark.parametrize("name", _book_settings())
def test_every_setting_of_a_book_is_documented(name: str) -> None:
    assert _names(ROOT / "docs" / "book.md", name)


def _comparison_settings() -> list[str]:
    from brownout.runs.clients.spec import Comparison

    return sorted(set(_settings(Comparison, set())))


@pytest.mark.parametrize("name", _comparison_settings())
def test_every_setting_of_a_comparison_of_clients_is_documented(name: str) -> None:
    assert _names(ROOT / "docs" / "client.md", name)


@pytest.mark.parametrize("name", _gameday_settings())
def test_every_setting_of_a_game_day_is_documented(name: str) -> None:
    assert _names(ROOT / "docs" / "gamedays.md", name)


@pytest.mark.parametrize("name", limit_names())
def test_every_measure_is_documented(name: str) -> None:
    bare = re.sub(r"[.<].*", "", name)
    assert _names(ROOT / "docs" / "measures.md", bare)


@pytest.mark.parametrize("name", [field.name for field in fields(MeasureSettings)])
def test_every_setting_of_the_measures_is_documented(name: str) -> None:
    assert _names(ROOT / "docs" / "measures.md", name)


def _names(path: Any, name: str) -> bool:
    """Whether a document names a setting as code: alone, in a path, or in an example."""
    if not path.exists():
        return False
    text = path.read_text()
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", code) is not None
