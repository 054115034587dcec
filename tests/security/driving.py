"""Reach the secured lab as a run does: through the control plane and the load generator."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import forked_run
from tests.security.secured_lab import SecuredLab

from brownout.base.errors import BrownoutError
from brownout.databases.adapter import adapter_for
from brownout.inventory import inventory
from brownout.load import workload as workloads
from brownout.load.generator import Generator
from brownout.load.session import LoadResult, run_load

#: Little enough for a machine that does much else: these tests measure nothing.
SMALL = (
    "data.keys=300,streams.lookups.rate=40,streams.orders.rate=20,streams.orders.ledger_keys=200"
)


@dataclass(frozen=True)
class Refusals:
    """What an inventory, the control plane and the generator said; empty for nothing."""

    inventory: str = ""
    control: str = ""
    generator: str = ""

    @property
    def text(self) -> str:
        return f"{self.inventory}\n{self.control}\n{self.generator}"


def try_all(path: Path, where: Path, load: bool = False) -> Refusals:
    """Read an inventory, ask the members, connect the generator, and `load`, whatever fails."""
    try:
        cluster = inventory.load(path)
    except BrownoutError as error:
        return Refusals(inventory=str(error))
    adapter = adapter_for(cluster)
    try:
        spec = workloads.load("lab", SMALL).to_spec(
            directory=where / "run", seed=1, writer="test", **adapter.load_spec()
        )
        return Refusals(control=_said(adapter.ready), generator=_said(lambda: _open(spec, load)))
    finally:
        adapter.close()


def load_for_a_second(path: Path, where: Path) -> tuple[LoadResult, Mapping[str, Any]]:
    """Run a small load with ledger and read-back; return what came of it and generator.json."""
    adapter = adapter_for(inventory.load(path))
    try:
        adapter.ready()
        directory = where / "run"
        result = run_load(workloads.load("lab", SMALL), adapter.load_spec(), directory, 1.0, seed=1)
    finally:
        adapter.close()
    return result, json.loads((directory / "generator.json").read_text())


def brownout(
    where: Path,
    *arguments: str,
    through: Callable[[list[str]], list[str]] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with what it keeps below `where`."""
    own = {"BROWNOUT_RUNS": str(where / "runs"), "BROWNOUT_STATE": str(where / "state")}
    env = {**own, **(environment or {})}
    if through is None:
        return forked_run.brownout(*arguments, cwd=where, env=env, timeout=120)
    return subprocess.run(
        through([sys.executable, "-m", "brownout", *arguments]),
        cwd=where,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )


def leaks(secured: SecuredLab, *places: Path) -> list[str]:
    """Return every file in which there is a secret."""
    search = ["grep", "--recursive", "--files-with-matches", "--fixed-strings", "--file=-"]
    there = [str(place) for place in places if place.exists()]
    assert there, "none of the places exists, and grep would search the current folder"
    done = subprocess.run(
        [*search, *there],
        env={**os.environ, "LC_ALL": "C"},
        input=secured.mark,
        capture_output=True,
        text=True,
    )
    for problem in done.stderr.splitlines():  # a server's own file may be gone meanwhile
        assert problem.endswith("No such file or directory"), problem
    return done.stdout.splitlines()


def _open(spec: Mapping[str, Any], load: bool) -> None:
    with Generator(Path(spec["dir"])) as generator:
        generator.open(spec)
        if load:
            generator.load()


def _said(act: Any) -> str:
    try:
        act()
    except BrownoutError as error:
        return str(error)
    return ""
