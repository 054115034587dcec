"""The site has every page, and what is made from the code is whole."""

import importlib.util
import re
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from tests.docs.documents import ROOT

from brownout import discover
from brownout.measure.measures import measures
from brownout.session.options import SETTINGS

SITE = ROOT / "tools" / "site"


class _Loader(yaml.SafeLoader):
    """YAML with what MkDocs adds: `!ENV [NAME, default]`."""


def _default(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    assert isinstance(node, yaml.SequenceNode)
    return loader.construct_sequence(node)[-1]


_Loader.add_constructor("!ENV", _default)
CONFIG: dict[str, Any] = yaml.load((SITE / "mkdocs.yml").read_text(), _Loader)


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """The module that makes pages from the code."""
    return _module("reference")


@pytest.fixture(scope="module")
def pages(reference: ModuleType) -> dict[str, str]:
    made: dict[str, str] = reference.pages(ROOT)
    return made


def _listed(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    return [page for each in (part.values() if isinstance(part, dict) else part)
            for page in _listed(each)]  # fmt: skip


def test_the_site_has_four_parts() -> None:
    names = [next(iter(part)) for part in CONFIG["nav"]]
    assert names == ["brownout", "Tutorial", "How to", "Reference", "Explanation"]


def test_every_page_is_in_one_part(pages: dict[str, str]) -> None:
    elsewhere = re.findall(r'"([\w-]+\.md)": "', (SITE / "hooks.py").read_text())
    docs = ROOT / "docs"
    documents = [str(path.relative_to(docs)) for path in docs.rglob("*.md")
                 if path.parent.name != "decisions"]  # fmt: skip
    assert sorted(_listed(CONFIG["nav"])) == sorted(
        [*documents, *elsewhere, *pages, "decisions/"]
    ), "tools/site/mkdocs.yml: list every page of docs/ in `nav`, once"


def test_every_layer_is_drawn_from_its_own_words(reference: ModuleType) -> None:
    rooms = dict(room for row in reference.layers(ROOT) for room in row)
    assert {"base", "session", "cli"} <= set(rooms)
    assert all(rooms.values()), "a room has no docstring"
    assert reference.layers(ROOT)[-1][0][0] == "base"
    picture = reference.architecture(ROOT)
    assert all(f"<b>{room}</b>" in picture for room in rooms)


def test_the_reference_has_everything_that_is_registered(pages: dict[str, str]) -> None:
    for activity in discover()["activities"]:
        assert f"### `{activity['name']}`" in pages["reference/activities.md"]
    for name in measures():
        assert f"| `{name}` |" in pages["reference/measures.md"]
    for name in SETTINGS:
        assert f"| `{name}` |" in pages["reference/settings.md"]
    for command in (
        "run EXPERIMENT",
        "gameday plan GAMEDAY",
        "history`",
        "history add RUN…`",
        "check FILES…`",
    ):
        assert f"## `brownout {command}" in pages["reference/commands.md"]
    assert (
        "| `allow_data_loss` | boolean or `all_copies` | `false` |"
        in (pages["reference/inventory.md"])
    )


def test_links_lead_to_headings_of_the_same_page(pages: dict[str, str]) -> None:
    for name in ("reference/inventory.md", "reference/workload.md"):
        titles = re.findall(r"^## (.+)$", pages[name], re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
        assert set(re.findall(r"\]\(#([^)]+)\)", pages[name])) <= anchors


@pytest.mark.parametrize(
    ("page", "link", "on_the_site"),
    [
        ("index.md", "[a](docs/safety.md#guards)", "[a](safety.md#guards)"),
        ("index.md", "![a](docs/pictures/node-wipe.png)", "![a](pictures/node-wipe.png)"),
        ("index.md", "[a](docs/decisions)", "[a](decisions/README.md)"),
        ("safety.md", "[a](clusters.md)", "[a](clusters.md)"),
        ("safety.md", "[a](../README.md)", "[a](index.md)"),
        ("decisions/README.md", "[a](../measures.md#x)", "[a](../measures.md#x)"),
        ("contributing.md", "[`a`](docs/whats-here.md)", "[`a`](whats-here.md)"),
        ("safety.md", "[a](https://example.org)", "[a](https://example.org)"),
        ("safety.md", "[a](#guards)", "[a](#guards)"),
        ("safety.md", "```\n[a](../x.py)\n```\n", "```\n[a](../x.py)\n```\n"),
        ("reference/measures.md", "[a](../measures.md)", "[a](../measures.md)"),
    ],
)
def test_a_link_of_the_checkout_is_one_of_the_site(page: str, link: str, on_the_site: str) -> None:
    assert _shown(page, link, "") == on_the_site


def test_a_link_to_code_leads_to_the_repository_if_it_is_known() -> None:
    link = "[node.py](../actions/node.py)"
    source = "https://example.org/brownout/blob/main"
    assert _shown("whats-here.md", link, source) == f"[node.py]({source}/actions/node.py)"
    assert _shown("whats-here.md", link, "") == "node.py"


def _shown(page: str, markdown: str, source: str) -> str:
    place = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    shown: str = _module("hooks").on_page_markdown(
        markdown, page=place, config=SimpleNamespace(extra={"source": source}), files=None
    )
    return shown
