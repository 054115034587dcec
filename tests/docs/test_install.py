"""Until brownout is published, whoever says how to install it says from where."""

import re
import subprocess
import tomllib
from pathlib import Path

from tests.docs.documents import ROOT

#: A name that pip would look up on an index: no path, and no address after `@`.
FROM_NOWHERE = re.compile(
    r"(?:pip|pipx|uv|uvx)\b[^\n`]*?\binstall\b[^\n`|]*?[ '\"=](?:chaostoolkit-)?brownout"
    r"(?:\[[^\]]*\])?+(?![\w./-])(?! @)"
    r"|\b(?:uvx|pipx run|uv tool run|uv add)\b[^\n`]*\bbrownout\b"
)
#: What says so of a brownout that did come from an index.
ALLOWED = {"src/brownout/base/extras.py", "tests/base/test_extras.py", "tests/docs/test_install.py"}


def _files() -> list[Path]:
    told = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    kinds = (".md", ".py", ".yaml", ".yml", ".j2", ".toml", ".txt", "")
    return [path for name in told.split("\0") if (path := ROOT / name).suffix in kinds and name]


def test_nothing_says_to_install_brownout_without_saying_from_where() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for path in _files()
        if path.is_file() and (name := str(path.relative_to(ROOT))) not in ALLOWED
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if FROM_NOWHERE.search(line)
    ]
    assert found == []


def test_what_names_no_place_is_recognised() -> None:
    for wrong in ("pip install brownout", "`pip install 'brownout[lab]'`.", "uvx brownout run x",
                  "uv tool install brownout", "pip install -q \"brownout[ssh]\" rich",
                  "pip install chaostoolkit-brownout", "pip install brownout==0.1.0"):  # fmt: skip
        assert FROM_NOWHERE.search(wrong), wrong
    for right in ("pip install '.[mongodb]'", "pip install './brownout-0.1.0-py3-none-any.whl'",
                  "pip install 'brownout[lab] @ https://example.org/b.whl'",
                  "`pip install` needs a checkout of brownout"):  # fmt: skip
        assert not FROM_NOWHERE.search(right), right


def test_every_extra_is_on_the_page() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    page = (ROOT / "docs" / "install.md").read_text()
    missing = [extra for extra in extras if extra != "dev" and f"| `{extra}` |" not in page]
    assert missing == []


def test_the_page_names_the_wheel_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"./brownout-{version}-py3-none-manylinux" in (ROOT / "docs/install.md").read_text()
