"""Where a real node keeps its data: its configuration, its own answer and its process agree."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.errors import ClusterError, Refused
from brownout.databases.lab.ports import reserve_ports
from brownout.databases.redis.adapter import RedisAdapter
from brownout.databases.redis.lab.server import find_redis
from brownout.inventory.model import Cluster, Node, ProcessSpec
from brownout.machine.host import host_for


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node whose redis.conf ends with an `include` that names another directory, as redis.conf
    itself recommends; the directory that the file names holds what it held before.
    """
    try:
        program = find_redis()
    except ClusterError as error:
        pytest.skip(f"NOT TESTED: {error}")
    port, bus = reserve_ports(2, tmp_path)
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    (tmp_path / "old" / "dump.rdb").touch()
    (tmp_path / "data.conf").write_text(f"DIR\t{tmp_path}/new/\n")
    file = tmp_path / "redis.conf"
    file.write_text(
        f"dir {tmp_path}/old\nport {port}\nbind 127.0.0.1\ncluster-enabled yes\nappendonly yes\n"
        f"cluster-port {bus}\n"
        f"set-proc-title no\ninclude {tmp_path}/data.conf\n"
    )
    host = ProcessSpec(
        pid_file=tmp_path / "pid",
        config_file=file,
        log_file=tmp_path / "log",
        command=(str(program), str(file)),
    )
    one = Node(name="n1", address=f"127.0.0.1:{port}", host=host)
    yield one
    host_for(one).stop("kill")


def _adapter(node: Node) -> RedisAdapter:
    return RedisAdapter(Cluster(name="c", database="redis", environment="test", nodes=(node,)))


def _start(node: Node, adapter: RedisAdapter) -> None:
    host_for(node).start()
    await_true(lambda: adapter.evidence(node).get("node_id"), "it answers")


def test_the_directory_of_an_included_file_is_the_one_that_is_wiped(
    node: Node, tmp_path: Path
) -> None:
    with _adapter(node) as adapter:
        assert adapter.data_directories(node) == [tmp_path / "new"]
        _start(node, adapter)
        assert adapter.data_directories(node) == [tmp_path / "new"]
        host_for(node).stop("clean")
        proof = host_for(node).wipe(adapter.data_directories(node))
        assert proof.evidence["directories"][0]["files_removed"] >= 2
        assert (tmp_path / "old" / "dump.rdb").exists()


def test_a_configuration_that_the_living_node_contradicts_is_refused_also_once_it_is_stopped(
    node: Node, tmp_path: Path
) -> None:
    assert node.host is not None
    assert node.host.config_file is not None
    with _adapter(node) as adapter:
        _start(node, adapter)
        text = node.host.config_file.read_text().replace("include", "# include")
        node.host.config_file.write_text(text)
        names = f"names `{tmp_path}/old`, but it runs with `{tmp_path}/new`"
        with pytest.raises(Refused, match=names):
            adapter.data_directories(node)
        host_for(node).stop("clean")
        with pytest.raises(Refused, match=names):
            adapter.data_directories(node)


def test_what_the_configuration_does_not_name_is_asked_of_the_living_node(
    node: Node, tmp_path: Path
) -> None:
    (tmp_path / "data.conf").write_text("dir ./new\n")
    with _adapter(node) as adapter:
        with pytest.raises(Refused, match=naming("`dir`", "'./new'")):
            adapter.data_directories(node)
        file = tmp_path / "redis.conf"
        file.write_text(file.read_text().replace(f"dir {tmp_path}/old", f"dir {tmp_path}"))
        _start(node, adapter)
        assert adapter.data_directories(node) == [tmp_path / "new"]
        host_for(node).stop("clean")
        assert adapter.data_directories(node) == [tmp_path / "new"]


@pytest.mark.parametrize("how", ["user default on nopass ~* &* +@all -config", "rename-command"])
def test_a_node_that_does_not_let_us_ask_is_known_by_where_it_works(
    node: Node, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "redis.conf").open("a") as file:
        file.write('rename-command CONFIG ""\n' if how == "rename-command" else f"{how}\n")
    with _adapter(node) as adapter:
        _start(node, adapter)
        assert adapter.data_directories(node) == [tmp_path / "new"]
        monkeypatch.setattr("brownout.machine.process.ProcessHost.footprint", lambda *_: None)
        with pytest.raises(Refused, match=r"does not answer `CONFIG GET dir` .*cannot be seen"):
            adapter.data_directories(node)


def test_a_node_with_files_of_its_data_open_elsewhere_is_refused(
    node: Node, tmp_path: Path
) -> None:
    with _adapter(node) as adapter:
        _start(node, adapter)
        found = host_for(node).footprint(("PATH", "HOME_OF_NOBODY"))
        assert found is not None
        assert found.directory == tmp_path / "new"
        assert tmp_path / "new" / "nodes.conf" in found.files
        assert list(found.variables) == ["PATH"]
        appended = next(file for file in found.files if file.suffix == ".aof")
        moved = (tmp_path / "new" / "appendonlydir").rename(tmp_path / "moved")
        with pytest.raises(Refused, match=naming(f"`{tmp_path}/new`", f"`{moved}/")):
            adapter.data_directories(node)
        assert appended.parent.name == "appendonlydir"
