"""What of a lab is on disk: where, in which words, and who may change it."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from brownout.databases.mongodb.lab.settings import ReplicaSetLab
from brownout.inventory import inventory, labs
from brownout.inventory.connection import Connection
from brownout.inventory.model import Cluster, Node, ProcessSpec

NAME = "lab-mongodb"


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    labs.directory(NAME).mkdir()


def a_lab() -> Cluster:
    host = ProcessSpec(pid_file=Path("/x/pid"), command=("mongod",))
    spare = ProcessSpec(pid_file=Path("/y/pid"), command=("mongod",))
    return Cluster(
        name=NAME,
        database="mongodb",
        environment="lab",
        allow_data_loss=True,
        nodes=(Node(name="n1", address="127.0.0.1:20001", host=host),),
        spares=(Node(name="n2", address="127.0.0.1:20002", host=spare),),
        connection=Connection(replica_set=NAME),
        lab=ReplicaSetLab(engine="mongodb", members=1, election_timeout_ms=900),
    )


def test_labs_live_under_the_state_home_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert labs.root() == tmp_path

    monkeypatch.delenv("BROWNOUT_LAB_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere/state")
    assert labs.root() == Path("/somewhere/state/brownout/lab")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert labs.root() == Path("/home/ada/.local/state/brownout/lab")


def test_an_inventory_reads_as_it_was_written() -> None:
    path = labs.write_inventory(a_lab())

    assert inventory.declared(path) == a_lab()


def test_a_lab_counts_as_running_only_once_it_was_formed() -> None:
    path = labs.write_inventory(a_lab())
    assert labs.running_inventory(NAME) is None

    labs.write(NAME, "mongodb", "starting")
    assert labs.running_inventory(NAME) is None

    labs.write(NAME, "mongodb", "running")
    assert labs.running_inventory(NAME) == path


def test_a_lab_of_before_the_reboot_does_not_run() -> None:
    labs.write_inventory(a_lab())
    labs.write(NAME, "mongodb", "running")
    note = labs.directory(NAME) / "lab.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "boot_id": "before"}))

    assert labs.running_inventory(NAME) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "x"}', '{"unknown": 1}'])
def test_a_note_cut_short_is_no_note(content: str) -> None:
    (labs.directory(NAME) / "lab.json").write_text(content)

    assert labs.read(NAME) is None


def test_a_second_one_waits_for_the_lock_and_says_so() -> None:
    waiting, entered = threading.Event(), threading.Event()

    def second() -> None:
        with labs.locked(NAME, waiting.set):
            entered.set()

    other = threading.Thread(target=second)
    with labs.locked(NAME, lambda: None):
        other.start()
        assert waiting.wait(10)
        assert not entered.is_set()
    assert entered.wait(10)
    other.join()


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    script = (
        "import os, signal\n"
        "from brownout.inventory import labs\n"
        f"with labs.locked({NAME!r}, lambda: None):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    assert (tmp_path / f"{NAME}.lock").exists()

    told: list[str] = []
    with labs.locked(NAME, lambda: told.append("waiting")):
        assert not told


def test_the_lock_goes_with_the_lab(tmp_path: Path) -> None:
    with labs.locked(NAME, lambda: None):
        labs.forget(NAME)

    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_labs_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    labs.forget(NAME)
    labs.directory(NAME).symlink_to(tmp_path / "precious")

    labs.forget(NAME)

    assert (tmp_path / "precious").is_dir()
