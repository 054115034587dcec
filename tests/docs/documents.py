"""The documents, and what a reader finds in them: words, links, fenced blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["DOCUMENTS", "ROOT", "Block", "all_text", "blocks", "links", "slugs"]

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "dashboards").glob("*.md")]
)
_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block, with its language and the HTML comment on the line above it."""

    path: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def name(self) -> str:
        """`README.md:41`."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@cache
def all_text() -> str:
    """Everything that is documented, as one text."""
    return "\n".join(path.read_text() for path in DOCUMENTS)


def blocks(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a document."""
    text = path.read_text()
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(path, line, found["language"], found["mark"] or "", found["text"])


def links(path: Path) -> list[str]:
    """Return the targets of every link of a document, outside fenced blocks."""
    return _LINK.findall(_FENCE.sub("", path.read_text()))


def slugs(path: Path) -> set[str]:
    """Return the anchors that a document's headings have."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
