"""What MkDocs does besides: pages from outside docs/, pages from the code, links that fit the site.

Links in the documents are those of the checkout, so that they work where the repository is
browsed. Here each is resolved to a file of the checkout, and then to the page that shows it.
"""

import os.path
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Pages whose text lies outside docs/: page -> file of the checkout.
ELSEWHERE = {
    "index.md": "README.md",
    "ansible.md": "infra/ansible/README.md",
    "building-dashboards.md": "dashboards/README.md",
    "changelog.md": "CHANGELOG.md",
    "conduct.md": ".github/CODE_OF_CONDUCT.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": ".github/SECURITY.md",
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    """Give headings the anchors that a forge gives them, and list the decisions."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    folder = Path(config.docs_dir) / "decisions"
    pages = ["decisions/README.md", *sorted(f"decisions/{p.name}" for p in folder.glob("0*.md"))]
    for part in config.nav:
        for entry in next(iter(part.values())):
            if isinstance(entry, dict) and entry.get("Decisions"):
                entry["Decisions"] = pages
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside docs/ and those that are made from the code."""
    # Links are tested where there is no MkDocs.
    from mkdocs.structure.files import File

    sys.path.insert(0, str(Path(__file__).parent))
    import reference

    made = {page: (ROOT / file).read_text("utf-8") for page, file in ELSEWHERE.items()}
    made["index.md"] = "---\nhide: [navigation]\n---\n" + made["index.md"]
    made |= reference.pages(ROOT)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    css = Path(__file__).with_name("site.css").read_text("utf-8")
    files.append(File.generated(config, "site.css", content=css))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Make every link one of the site."""
    place = page.file.src_uri
    origin = ELSEWHERE.get(place, f"docs/{place}")
    parts = _FENCE.split(markdown)
    source = config.extra["source"].rstrip("/")
    for index in range(0, len(parts), 2):
        parts[index] = _LINK.sub(lambda found: _link(found, origin, place, source), parts[index])
    return "".join(parts)


def slug(title: str, separator: str) -> str:
    """Return the anchor that forges give a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def _link(found: re.Match[str], origin: str, place: str, source: str) -> str:
    image, text, link = found.groups()
    target, sign, anchor = link.partition("#")
    if not target or re.match(r"[a-z]+:", target) or origin.startswith("docs/reference/"):
        return found[0]
    path = os.path.normpath(Path(origin).parent / target)
    pages = {file: page for page, file in ELSEWHERE.items()}
    if path in ("docs", "docs/decisions"):
        path = {"docs": "README.md", "docs/decisions": "docs/decisions/README.md"}[path]
    page = pages.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    if page is not None:
        relative = os.path.relpath(page, Path(place).parent)
        return f"{image}[{text}]({relative}{sign}{anchor})"
    return f"[{text}]({source}/{path}{sign}{anchor})" if source else text
