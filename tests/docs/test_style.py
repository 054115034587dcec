"""Phrases that are wrong wherever they stand do not come back: in documents, help and messages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import ROOT

from brownout import cli

#: Inverted clauses, riddles and words of our own, each with what to say instead.
WRONG = {
    r"\bowed\b": "a pending undo",
    r"\bthat (?:it|they) (?:is|are) let go\b": "say what removes it",
    r"\b(?:stands?|is) against (?:it|them)\b": "stands in the way",
    r"\bcannot be told from none\b": "is within the noise",
    r"\bnobody was served\b": "outage",
    r"\bservice (?:was )?as before\b": "service recovered",
    r"\bwhat the others met\b": "how unsuccessful operations ended",
    r"\bsays? what is what\b": "explains",
    r"\bunless told\b": "by default",
    r"\b(?:runs|days) that go on\b": "in progress",
    r"\bof yours\b": "your own",
    r"\bsay how it is spread\b": "report the distribution",
    r"\bname that is none\b": "an unknown name",
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _wrong(text: str) -> list[str]:
    words = re.sub(r"\s+", " ", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [
        f"{found[0]!r}: {better}"
        for pattern, better in WRONG.items()
        for found in re.finditer(pattern, words, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_has_no_phrase_that_is_always_wrong(path: Path) -> None:
    assert _wrong(path.read_text()) == []


def _helps(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    yield " ".join(path), command.help or ""
    for parameter in command.params:
        yield " ".join((*path, parameter.name)), getattr(parameter, "help", None) or ""
    for name, child in getattr(command, "commands", {}).items():
        yield from _helps(child, (*path, name))


def test_no_help_has_a_phrase_that_is_always_wrong() -> None:
    found = {place: _wrong(text) for place, text in _helps(cli.command())}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def _messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that people see: no docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield getattr(node, "lineno", 0), node.value if isinstance(node.value, str) else ""


def test_no_message_has_a_phrase_that_is_always_wrong() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {wrong}"
        for part in ("src/brownout", "actions", "probes", "infra/lab")
        for path in sorted((ROOT / part).rglob("*.py"))
        for line, text in _messages(path)
        for wrong in _wrong(text)
    ]
    assert sorted(set(found)) == []
