"""What the documents show is run: blocks marked so, the fault of one's own, the adapter."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.docs.documents import DOCUMENTS, ROOT, Block, blocks

from brownout.databases.adapter import Adapter
from brownout.inventory.model import Cluster

RUN = [block for path in DOCUMENTS for block in blocks(path) if block.mark == "runs"]
#: What a stranger tries first; the examples of other pages are for `make matrix`.
FIRST = ("README.md", "docs/tutorial.md")
FAULT = {
    block.mark.removeprefix("fault: "): block
    for block in blocks(ROOT / "docs" / "writing-a-fault.md")
    if block.mark.startswith("fault: ")
}
SHELL = [
    block for block in blocks(ROOT / "docs" / "writing-a-fault.md") if block.mark == "fault: shell"
]


def _environment(where: Path) -> dict[str, str]:
    """The command line on PATH, and everything that a run keeps below `where`."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"BROWNOUT_STATE": str(where / "state"), "BROWNOUT_LAB_DIR": str(where / "lab")}
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("BROWNOUT_")}
    return {**inherited, **own, "PATH": path}


def _checkout(where: Path) -> Path:
    """A folder that looks like the checkout and into which an example may write."""
    folder = where / "checkout"
    folder.mkdir()
    for item in ROOT.iterdir():
        if not item.name.startswith(".") and item.name not in ("runs", "build", "dist"):
            (folder / item.name).symlink_to(item)
    return folder


def _bash(text: str, where: Path, env: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_documents_have_examples_that_run() -> None:
    assert len(RUN) > 5
    assert {block.language for block in RUN} == {"sh"}


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(
            block, id=block.name, marks=[] if block.name.startswith(FIRST) else pytest.mark.matrix
        )
        for block in RUN
    ],
)
def test_an_example_runs_as_it_stands(block: Block, tmp_path: Path) -> None:
    _bash(block.text, _checkout(tmp_path), _environment(tmp_path))


@pytest.fixture
def stutter(tmp_path: Path) -> Path:
    """The folder that docs/writing-a-fault.md makes, as far as its second step."""
    _bash(FAULT_START, tmp_path, _environment(tmp_path))
    folder = tmp_path / "stutter"
    (folder / "stutter.py").write_text(FAULT["stutter.py"].text)
    path = folder / "experiments" / "node-stutter.json"
    experiment = json.loads(path.read_text())
    experiment["method"] = json.loads(FAULT["method"].text)
    for unused in ("hang_s", "undo_after_s"):
        del experiment["configuration"][unused]
    experiment["configuration"]["limits"] = json.loads(FAULT["limits"].text)
    path.write_text(json.dumps(experiment))
    return folder


FAULT_START = SHELL[0].text


def test_the_fault_of_ones_own_is_right_as_it_is_written(stutter: Path, tmp_path: Path) -> None:
    _bash(SHELL[1].text, stutter, _environment(tmp_path))


@pytest.mark.matrix
def test_the_fault_of_ones_own_has_its_effect(
    stutter: Path, tmp_path: Path, lab_mongodb: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stutter)
    experiment = json.loads((stutter / "experiments" / "node-stutter.json").read_text())
    path = os.pathsep.join([str(stutter), str(ROOT)])
    env = {"PYTHONPATH": path, "BROWNOUT_STATE": str(tmp_path / "state")}
    workload = stutter / "steady-state" / "workloads" / "lab.yaml"
    experiment["configuration"]["workload"] = str(workload)
    # A primary that stops for longer than it should, on a busy machine, has a successor.
    given = (*chaos.GENTLY, "--var", "target=secondary")
    ran = chaos.run(chaos.quick(experiment), tmp_path, *given, env=env)
    faults = [e for e in ran.events if e["type"] in ("break", "mend") and e["stage"] == "ended"]
    assert [e["name"] for e in faults] == ["pause_node", "resume_node"] * 5, ran.output
    assert ran.impact["verdict"] in ("pass", "fail", "inconclusive")
    assert ran.impact["ledger"]["lost"] == 0
    (during,) = {e["node"] for e in faults}
    assert during == ran.impact["faults"][0]["events"][0]["node"]


def _adapter_of_the_page() -> type[Any]:
    (block,) = [
        block
        for block in blocks(ROOT / "docs" / "writing-an-adapter.md")
        if block.mark == "check: adapter"
    ]
    names: dict[str, Any] = {}
    exec(compile(block.text, block.name, "exec"), names)
    found: type[Any] = names["StoneAdapter"]
    return found


def test_the_adapter_that_is_shown_has_everything_that_an_adapter_has() -> None:
    shown = _adapter_of_the_page()
    for name, method in inspect.getmembers(Adapter, inspect.isfunction):
        if name.startswith("_"):
            continue
        wanted = inspect.signature(method)
        found = inspect.signature(getattr(shown, name))
        assert list(found.parameters) == list(wanted.parameters), name


def test_the_adapter_that_is_shown_answers() -> None:
    nodes = [{"name": "n1", "address": "127.0.0.1:1"}, {"name": "n2", "address": "127.0.0.1:2"}]
    cluster = Cluster.model_validate(
        {"name": "stone", "database": "stone", "environment": "test", "nodes": nodes}
    )
    adapter = _adapter_of_the_page()(cluster)
    adapter.ready()
    assert adapter.stable("whole").reached
    assert [node.name for node in adapter.targets("primary", 1)] == ["n1"]
    assert adapter.supports("kill").ok
    assert not adapter.supports("wipe").ok
    adapter.close()
