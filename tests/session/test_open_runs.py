"""Which run has a cluster: seen from this process, after a death, and from another container."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brownout.errors import Refused
from brownout.session import heal, open_runs

_HOLD = """
import sys
from pathlib import Path
from brownout.session import open_runs
open_runs.claim("shop", Path(sys.argv[1]), "shop", brought_up=False)
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder, and a state of its own."""
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path / "state"))
    return tmp_path / "run"


@pytest.fixture
def elsewhere(run: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that cannot be seen from here, as one of another container, and has the cluster."""
    command = [sys.executable, "-c", _HOLD, str(run)]
    if os.geteuid() == 0:
        command = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child", *command]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "taken\n"
    yield process
    process.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root makes process namespaces")
def test_a_run_of_another_container_on_the_same_volume_is_alive(
    elsewhere: subprocess.Popen[str], run: Path
) -> None:
    (held,) = open_runs.claims()
    assert held.pid == 1  # of its own namespace: here that is another process
    assert held.is_alive()
    with pytest.raises(Refused, match="still goes on"):
        heal.heal(held, 1.0, print)
    with pytest.raises(Refused, match="is in the hands of the run"):
        open_runs.claim("shop", run, "shop", brought_up=False)


def test_a_run_whose_process_was_killed_is_dead(
    elsewhere: subprocess.Popen[str], run: Path
) -> None:
    elsewhere.kill()
    assert elsewhere.stdout is not None
    assert elsewhere.stdout.read() == ""  # its last process has ended
    (held,) = open_runs.claims()
    assert not held.is_alive()
    with pytest.raises(Refused, match="died before it had put everything back"):
        open_runs.claim("shop", run, "shop", brought_up=False)


def test_a_cluster_that_is_let_go_can_be_taken_again(run: Path) -> None:
    for _ in range(2):
        open_runs.claim("shop", run, "shop", brought_up=False)
        with pytest.raises(Refused, match="is in the hands of the run"):
            open_runs.claim("shop", run, "shop", brought_up=False)
        open_runs.release("shop")
    assert open_runs.claims() == []
