"""Labs brought up and down for real, and what a crashed one leaves behind."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError, HostError
from brownout.databases.adapter import adapter_for
from brownout.databases.milestones import still_unmet
from brownout.infra import lab
from brownout.inventory import inventory, labs
from brownout.inventory.model import Cluster
from brownout.machine import procfs
from brownout.machine.host import host_for

NAME = "lab-mongodb"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty lab directory; what a test leaves in it is taken down."""
    monkeypatch.setenv("BROWNOUT_LAB_DIR", str(tmp_path))
    yield tmp_path
    lab.down(NAME)
    assert processes_below(tmp_path) == []


def processes_below(directory: Path) -> list[int]:
    """Return the processes whose command line names something in `directory`."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    found = [identity for pid in pids if (identity := procfs.identify(pid)) is not None]
    return [i.pid for i in found if any(str(directory) in word for word in i.command[1:])]


def is_whole(cluster: Cluster) -> bool:
    adapter = adapter_for(cluster)
    try:
        return not still_unmet(adapter, "whole")
    finally:
        adapter.close()


def test_a_lab_comes_up_whole_and_goes_without_a_trace(directory: Path) -> None:
    said: list[str] = []

    cluster = lab.up(NAME, progress=said.append)

    assert is_whole(cluster)
    assert inventory.load(NAME) == cluster
    assert len({node.address for node in cluster.nodes}) == 3
    assert len(processes_below(directory)) == 3
    assert 0 < sum(file.stat().st_size for file in directory.rglob("journal/*")) < 100 << 20
    assert said[0] == "starting 3 members of lab-mongodb"
    assert said[-1] == "lab-mongodb is up"

    assert lab.down(NAME)
    assert processes_below(directory) == []
    assert list(directory.iterdir()) == []
    assert not lab.down(NAME)


def test_the_number_of_members_can_be_chosen(directory: Path) -> None:
    cluster = lab.up(NAME, members=1)

    assert [node.name for node in cluster.nodes] == ["n1"]
    with pytest.raises(ConfigurationError, match="is up with 1 members, wanted 3; brownout lab"):
        lab.up(NAME, members=3)


@pytest.mark.parametrize("members", [0, 8])
def test_an_impossible_number_of_members_is_refused(directory: Path, members: int) -> None:
    with pytest.raises(ConfigurationError, match=f"members: found {members}, wanted"):
        lab.up(NAME, members=members)


def test_only_a_lab_can_be_brought_up(directory: Path) -> None:
    with pytest.raises(ConfigurationError, match="`example-mongodb` is not a lab"):
        lab.up("example-mongodb")
    cluster = inventory.load("example-mongodb")
    assert lab.ensure(cluster) == (cluster, False)


def test_a_lab_that_cannot_start_leaves_nothing_behind(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = directory / "mongod"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo db version v6.0.5 || exit 62\n')
    broken.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_MONGOD", str(broken))

    with pytest.raises(HostError, match=naming("n1", "status 62")):
        lab.up(NAME)

    assert sorted(path.name for path in directory.iterdir()) == ["mongod"]


def test_a_lab_that_is_down_has_no_logs_and_says_so(directory: Path) -> None:
    assert lab.status(NAME).condition == "down"
    with pytest.raises(ClusterError, match="is down; brownout lab up lab-mongodb"):
        lab.logs(NAME)


def test_it_survives_its_maker_and_is_used_as_it_is_by_the_next(fresh_lab: Cluster) -> None:
    script = "from brownout.infra import lab; print(lab.ensure('lab-mongodb'))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("False)")

    status = lab.status(NAME)
    assert status.condition == "up"
    assert sorted(m.state for m in status.members) == ["PRIMARY", "SECONDARY", "SECONDARY"]
    assert all(m.process.startswith("running, pid ") for m in status.members)
    assert list(lab.logs(NAME, node="n2", lines=3)) == ["n2"]
    assert [len(lines) for lines in lab.logs(NAME, lines=3).values()] == [3, 3, 3]


def test_what_an_experiment_left_broken_is_told_and_mended_only_by_up(fresh_lab: Cluster) -> None:
    first, second, _ = fresh_lab.nodes
    host_for(first).stop("kill")
    host_for(second).pause()

    status = lab.status(NAME)
    assert status.condition == "degraded"
    assert [m.process.partition(",")[0] for m in status.members] == [
        *("not running", "paused", "running")
    ]
    assert lab.ensure(NAME) == (fresh_lab, False)
    assert lab.status(NAME).condition == "degraded"

    said: list[str] = []
    assert is_whole(lab.up(NAME, progress=said.append))
    assert said[0] == "n1 is not running: putting it back"
    assert said[1].startswith("n2 is paused, pid ")


class TestCrashes:
    """An earlier lab died in one way or the other; the next `up` starts from nothing."""

    @pytest.fixture(autouse=True)
    def one_member(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = directory.parent / f"{directory.name}-clusters"
        mine.mkdir()
        text = "database: mongodb\nenvironment: lab\nlab: {engine: mongodb, members: 1}\n"
        (mine / f"{NAME}.yaml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("BROWNOUT_CLUSTERS", str(mine))

    def test_all_its_processes_died(self, directory: Path) -> None:
        old = lab.up(NAME)
        host_for(old.nodes[0]).stop("kill")
        assert lab.status(NAME).condition == "crashed"

        new, brought_up = lab.ensure(NAME)

        assert brought_up
        assert is_whole(new)

    @pytest.mark.matrix
    def test_its_maker_was_killed_at_any_moment(self, directory: Path) -> None:
        script = (
            "import os, signal, sys\n"
            "from brownout.infra import lab\n"
            "def die(line):\n"
            "    if line.startswith(sys.argv[1]):\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "lab.up('lab-mongodb', progress=die)\n"
        )
        for moment in ("starting", "electing", "waiting"):
            subprocess.run([sys.executable, "-c", script, moment], check=False)
            assert lab.status(NAME).condition == "half-made"
            with pytest.raises(ClusterError, match="is down"):
                inventory.load(NAME)

        said: list[str] = []
        assert is_whole(lab.up(NAME, progress=said.append))
        assert said[0] == "cleaning up an earlier lab-mongodb (half-made)"
        assert len(processes_below(directory)) == 1

    def test_it_was_cut_off_before_it_wrote_anything(self, directory: Path) -> None:
        labs.directory(NAME).mkdir()
        assert lab.status(NAME).condition == "half-made"

        assert lab.down(NAME)
        assert lab.status(NAME).condition == "down"

    def test_the_machine_was_rebooted(self, directory: Path) -> None:
        old = lab.up(NAME)
        host_for(old.nodes[0]).stop("kill")
        note = labs.directory(NAME) / "lab.json"
        note.write_text(note.read_text().replace(labs.boot_id(), "of-the-boot-before"))

        with pytest.raises(ClusterError, match="is down"):
            inventory.load(NAME)
        assert is_whole(lab.up(NAME))

    def test_a_stranger_with_its_old_pid_is_left_alone(self, directory: Path) -> None:
        old = lab.up(NAME)
        host_for(old.nodes[0]).stop("kill")
        with subprocess.Popen(["sleep", "60"]) as stranger:
            (labs.directory(NAME) / "n1" / "mongod.pid").write_text(f"{stranger.pid}\n")

            lab.down(NAME)

            assert stranger.poll() is None
            stranger.kill()

    def test_two_at_once_make_one_lab(self, directory: Path) -> None:
        made: list[Cluster] = []
        makers = [threading.Thread(target=lambda: made.append(lab.up(NAME))) for _ in range(2)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()

        assert made[0] == made[1]
        assert len(processes_below(directory)) == 1

    @pytest.mark.matrix
    def test_labs_in_two_directories_do_not_meet(self, directory: Path, tmp_path: Path) -> None:
        first = lab.up(NAME)
        environment = {**os.environ, "BROWNOUT_LAB_DIR": str(tmp_path / "second")}
        script = "from brownout.infra import lab; lab.up('lab-mongodb'); lab.down('lab-mongodb')"

        subprocess.run([sys.executable, "-c", script], env=environment, check=True)

        assert is_whole(first)


def test_ctrl_c_while_it_comes_up_leaves_nothing_behind(directory: Path) -> None:
    def interrupt(line: str) -> None:
        if line.startswith("electing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab.up(NAME, members=1, progress=interrupt)

    assert processes_below(directory) == []
    assert list(directory.iterdir()) == []
