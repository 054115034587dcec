"""Every link of every document leads somewhere, and no document names a machine of ours."""

import re
from pathlib import Path

import pytest
from tests.docs.documents import DOCUMENTS, ROOT, links, slugs

IDS = [str(path.relative_to(ROOT)) for path in DOCUMENTS]


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_every_link_resolves(path: Path) -> None:
    broken = []
    for link in links(path):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (path.parent / target).resolve() if target else path
        found = file.exists() and (not anchor or file.suffix != ".md" or anchor in slugs(file))
        if not found:
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_no_path_of_one_machine_is_in_it(path: Path) -> None:
    assert re.findall(r"(?<![\w.])/(?:work|root|tmp|home)/\w+", path.read_text()) == []


def test_the_tour_names_every_folder_and_module_that_a_run_uses() -> None:
    tour = (ROOT / "docs" / "whats-here.md").read_text()
    for folder in ("actions", "probes", "experiments", "dashboards", "infra/lab", "loadgen",
                   "tests", "docs", "tools", "infra/clusters", "steady-state/slo",
                   "steady-state/workloads"):  # fmt: skip
        assert (ROOT / folder).is_dir()
        assert f"]({_from_docs(folder)})" in tour or f"]({_from_docs(folder)}/" in tour
    for part in (ROOT / "src" / "brownout").iterdir():
        if part.is_dir() and not part.is_symlink() and part.name not in ("__pycache__", "bin"):
            assert f"src/brownout/{part.name}" in tour
    for module in (ROOT / "src" / "brownout" / "session").glob("[a-z]*.py"):
        if module.stem not in NOT_OF_THE_TOUR:
            assert f"session/{module.name})" in tour


#: What only serves the others.
NOT_OF_THE_TOUR = ("activity", "current", "measures", "record", "signals")


def _from_docs(folder: str) -> str:
    return "." if folder == "docs" else f"../{folder}"
