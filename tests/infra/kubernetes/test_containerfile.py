"""The Containerfile: what a linter would find, and that all it needs is in its context."""

import fnmatch
import re
import tomllib
from importlib.metadata import version
from itertools import pairwise

from tests.infra.kubernetes.manifests import CONTAINERFILE, PODS, ROOT, instructions, pod

TEXT = CONTAINERFILE.read_text()
IGNORED = (ROOT / ".containerignore").read_text().splitlines()


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage, its FROM first."""
    found = instructions()
    starts = [n for n, (word, _) in enumerate(found) if word == "FROM"]
    return [found[a:b] for a, b in pairwise([*starts, len(found)])]


def test_the_base_is_pinned_and_the_last_stage_begins_anew() -> None:
    (base,) = [rest for word, rest in instructions() if word == "ARG" and rest.startswith("BASE=")]
    assert re.fullmatch(r"BASE=python:3\.1[123]\.\d+-slim-\w+", base)
    assert [stage[0][1] for stage in stages()] == ["${BASE} AS build", "${BASE}"]


def test_it_runs_as_nobody_that_is_root_under_an_init() -> None:
    last = dict(stages()[-1])
    users = {pod(name)["spec"]["securityContext"]["runAsUser"] for name in PODS}
    groups = {pod(name)["spec"]["securityContext"]["runAsGroup"] for name in PODS}
    assert last["USER"] == f"{users.pop()}:{groups.pop()}"
    assert last["ENTRYPOINT"] == '["tini", "--"]'
    assert stages()[-1][-1][0] == "CMD"


def test_the_last_stage_compiles_and_fetches_nothing() -> None:
    runs = " ".join(rest for word, rest in stages()[-1] if word == "RUN")
    assert not re.search(r"pip|apt|gcc|curl|wget|go ", runs)
    assert not [rest for word, rest in stages()[-1] if word == "COPY" and "--from=" not in rest]


def test_what_apt_fetched_is_removed_in_the_same_layer() -> None:
    for _, rest in [found for found in instructions() if "apt-get install" in found[1]]:
        assert "--no-install-recommends" in rest
        assert "rm -rf /var/lib/apt/lists/*" in rest


def test_no_secret_is_in_it() -> None:
    assert not re.search(r"(?i)password|secret|token|api_?key|--build-arg \w*key", TEXT)
    assert {"ADD"}.isdisjoint(word for word, _ in instructions())


def test_all_that_the_package_is_built_from_is_in_the_context() -> None:
    needed = {"pyproject.toml", "setup.py", "README.md", "MANIFEST.in", "constraints.txt", "src",
              "go.mod", "go.sum", "loadgen", "infra", "tools"}  # fmt: skip
    linked = {path.name for path in (ROOT / "src/brownout").iterdir() if path.is_symlink()}
    assert {name for name in needed | linked if not _is_in(name)} == set()
    assert not [name for name in ("tests", "runs", ".git", ".venv", "docs") if _is_in(name)]
    assert not _is_in("src/brownout/bin/loadgen")


def _is_in(name: str) -> bool:
    """Whether the last line of .containerignore that means `name`, or its folder, lets it in."""
    found = True
    for line in IGNORED:
        rule = line.lstrip("!")
        meant = fnmatch.fnmatch(name, rule) or name.startswith(f"{rule}/")
        if rule and not rule.startswith("#") and meant:
            found = line.startswith("!")
    return found


def test_its_extras_and_images_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", TEXT, re.MULTILINE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    images = {c["image"] for name in PODS for c in pod(name)["spec"]["containers"]}
    assert {image.rpartition(":")[2] for image in images} == {version("brownout")}
