"""Wiping a container's volumes: what is refused, and the removal for real."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from tests.machine.docker.boxes import Box
from tests.machine.docker.recorded import RecordedEngine
from tests.wording import naming

from brownout.base.errors import HostError, Refused
from brownout.inventory.model import Node
from brownout.machine.docker import DockerHost
from brownout.machine.docker.container import Container, Mount
from brownout.machine.docker.helper import HELPER
from brownout.machine.docker.volumes import refusals

NodeOf = Callable[..., Node]

SOURCE = PurePosixPath("/var/lib/docker/volumes/d/_data")
DATA = Mount("volume", "d", SOURCE, PurePosixPath("/data/db"))
NODE = Container(
    id="a" * 64, name="n1", image="i", started="s", finished="f", pid=0, exit_code=0,
    running=False, paused=False, restarting=False, policy="no", stop_signal="SIGTERM",
    removed_when_stopped=False, of_swarm=False, mounts=(DATA,),
)  # fmt: skip
LOCAL = {"d": {"Driver": "local", "Options": None}}


@pytest.mark.parametrize("directory", ["/data/db", "/data/db/shard"])
def test_a_volume_of_its_own_and_what_lies_in_it_may_be_emptied(directory: str) -> None:
    assert list(refusals(PurePosixPath(directory), NODE, {}, LOCAL)) == []


@pytest.mark.parametrize(
    ("mounts", "others", "volumes", "reason"),
    [
        ((), {}, LOCAL, "it lies on no volume of the container"),
        ((replace(DATA, kind="bind", source=PurePosixPath("/srv/db")),), {}, LOCAL,
         "it lies on a bind mount of `/srv/db`"),
        ((replace(DATA, kind="tmpfs"),), {}, LOCAL, "it lies on a tmpfs mount"),
        ((replace(DATA, writable=False),), {}, LOCAL, "mounted read-only"),
        ((DATA, Mount("volume", "e", SOURCE, PurePosixPath("/data/db/journal"))), {}, LOCAL,
         "something else is mounted in it at `/data/db/journal`"),
        ((DATA,), {"n2": [DATA]}, LOCAL, "its volume `d` is mounted in container `n2` too"),
        ((DATA,), {"backup": [Mount("bind", "", SOURCE.parent.parent, PurePosixPath("/all"))]},
         LOCAL, "its volume `d` is mounted in container `backup` too"),
        ((DATA,), {}, {"d": {"Driver": "rexray/ebs"}}, "(driver `rexray/ebs`) may be in use else"),
        ((DATA,), {}, {"d": {"Driver": "local", "Options": {"type": "nfs"}}}, "{'type': 'nfs'}"),
        ((DATA,), {}, {}, "(driver `None`) may be in use elsewhere"),
    ],
)  # fmt: skip
def test_what_may_not_be_the_nodes_alone_is_refused(
    mounts: tuple[Mount, ...],
    others: dict[str, list[Mount]],
    volumes: dict[str, dict[str, object]],
    reason: str,
) -> None:
    node = replace(NODE, mounts=mounts)
    found = list(refusals(PurePosixPath("/data/db"), node, others, volumes))
    assert [told for told in found if reason in told] == found != []


def test_what_watches_the_whole_machine_does_no_harm() -> None:
    machine = Mount("bind", "", PurePosixPath("/"), PurePosixPath("/rootfs"), writable=False)
    others = {"watcher": [machine]}
    assert list(refusals(PurePosixPath("/data/db"), NODE, others, LOCAL)) == []


@pytest.fixture
def data(box: Box) -> Path:
    """The volume's directory."""
    return box.volumes["n1-data"]


@pytest.fixture
def stopped(box: Box, node_of: NodeOf) -> DockerHost:
    """A node whose container was made and not started."""
    return DockerHost(node_of())


def test_a_stopped_nodes_volume_is_emptied_and_kept(
    stopped: DockerHost, data: Path, engine: RecordedEngine
) -> None:
    proof = stopped.wipe([data])

    assert data.is_dir()
    assert list(data.iterdir()) == []
    assert proof.evidence["directories"] == [
        {"directory": str(data), "files_removed": 2, "bytes_removed": 4098, "entries_left": 0}
    ]
    assert not proof.already
    assert stopped.wipe([data]).already
    assert [box.name for box in engine.boxes.values()] == ["n1"]


def test_the_helper_has_the_nodes_image_and_volumes_and_no_network(
    stopped: DockerHost, data: Path, box: Box, engine: RecordedEngine
) -> None:
    stopped.wipe([data])

    for made in engine.created:
        assert made["Image"] == box.image
        assert made["User"] == "0:0"
        assert made["Labels"] == {HELPER: box.id}
        assert made["HostConfig"]["VolumesFrom"] == [box.id]
        assert made["HostConfig"]["NetworkMode"] == "none"
        assert made["HostConfig"]["CapDrop"] == ["ALL"]


@pytest.mark.parametrize("paused", [False, True])
def test_a_node_that_runs_or_is_paused_is_not_wiped(
    host: DockerHost, data: Path, paused: bool
) -> None:
    if paused:
        host.pause()
    with pytest.raises(Refused, match=r"is not wiped: it is (running|paused); stop it first"):
        host.wipe([data])
    assert (data / "WiredTiger").exists()


def test_a_node_that_somebody_starts_during_its_wipe_is_no_wiped_node(
    stopped: DockerHost, data: Path, box: Box, engine: RecordedEngine
) -> None:
    engine.when_asked["DELETE"] = lambda: engine.start(box)  # as the last helper goes
    with pytest.raises(HostError, match=naming("n1", "started")):
        stopped.wipe([data])


def test_nothing_is_touched_if_one_of_several_directories_is_refused(
    stopped: DockerHost, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=naming(tmp_path / "other")):
        stopped.wipe([data, tmp_path / "other"])
    with pytest.raises(Refused, match=naming(data / "missing")):
        stopped.wipe([data / "missing"])
    assert (data / "WiredTiger").exists()


def test_a_link_in_the_volume_is_refused(stopped: DockerHost, data: Path, tmp_path: Path) -> None:
    (data / "journal" / "elsewhere").symlink_to(tmp_path)
    with pytest.raises(Refused, match=naming(data / "journal" / "elsewhere", tmp_path)):
        stopped.wipe([data])


def test_a_volume_that_another_container_has_too_is_refused(
    stopped: DockerHost, data: Path, engine: RecordedEngine
) -> None:
    engine.add("backup", ["/bin/true"], volumes={"n1-data": data})
    with pytest.raises(Refused, match=naming("`n1-data`", "`backup`")):
        stopped.wipe([data])


def test_a_configuration_in_the_volume_survives(box: Box, data: Path, node_of: NodeOf) -> None:
    host = DockerHost(node_of(config_file=str(data / "mongod.conf")))
    with pytest.raises(Refused, match=naming(data, data / "mongod.conf")):
        host.wipe([data])


def test_no_directory_is_no_wipe(stopped: DockerHost) -> None:
    with pytest.raises(Refused, match="n1"):
        stopped.wipe([])


def test_what_a_crash_left_behind_is_removed_by_the_next(
    stopped: DockerHost, data: Path, box: Box, engine: RecordedEngine
) -> None:
    engine.add("left", ["/bin/true"], config={"Labels": {HELPER: box.id}})
    engine.add("of-another", ["/bin/true"], config={"Labels": {HELPER: "b" * 64}})
    stopped.entries(data)
    assert sorted(box.name for box in engine.boxes.values()) == ["n1", "of-another"]


@pytest.mark.parametrize("running", [False, True])
def test_files_and_names_are_read_whether_it_runs_or_not(
    box: Box, data: Path, engine: RecordedEngine, node_of: NodeOf, running: bool
) -> None:
    host = DockerHost(node_of())
    if running:
        engine.start_ready(box)
    (data / "two\nlines").touch()

    assert host.entries(data) == ["WiredTiger", "journal", "two\nlines"]
    assert host.read_text(data / "WiredTiger") == "wt"


def test_what_cannot_be_read_is_said(stopped: DockerHost, data: Path) -> None:
    (data / "binary").write_bytes(b"\xff\xfe")
    for path, told in (("none", "Could not find the file"), ("journal", "it is not a plain file"),
                       ("binary", "utf-8")):  # fmt: skip
        with pytest.raises(HostError, match=told):
            stopped.read_text(data / path)
    with pytest.raises(HostError, match="No such file"):
        stopped.entries(data / "none")
    with pytest.raises(HostError, match="/etc"):
        stopped.entries(Path("/etc"))
