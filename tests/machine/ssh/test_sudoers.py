"""Rights by a generated sudoers file, for real: sshd, sudo, a user of its own, and root's files."""

import getpass
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.links import Link
from tests.restricted import USER, install, installed, machine, sudo_log
from tests.sshd import Sshd
from tests.wording import naming

from brownout.base.errors import ConfigurationError, Denied
from brownout.inventory.model import Cluster, Guards, Node
from brownout.machine import bandwidth, cut_off, directories, one_way, packet_loss, signals
from brownout.machine.commands import script
from brownout.machine.packet_filter import Match
from brownout.machine.ssh import SshHost, SshSpec
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.helpers import helpers_of
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.process import locate
from brownout.machine.ssh.reboot import BOOT_ID, SCRIPTS
from brownout.machine.ssh.sudoers import acts_of, installation


@pytest.fixture
def far() -> Iterator[Sshd]:
    with machine() as server:
        yield server


@pytest.fixture
def node(far: Sshd, tmp_path: Path, node_at: Callable[..., Node]) -> Iterator[Node]:
    """A node of which only root may do anything, with its helpers installed."""
    made = node_at(
        **far.login(user=USER),
        sudo="helpers",
        config_file=str(tmp_path / "etc" / "node.conf"),
        reboot_command=f"touch {tmp_path / 'rebooted'}",
        server_directory=str(tmp_path / "work"),
    )
    for name in ("etc", "data", "work"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "etc" / "node.conf").write_text("data: there\n")
    with installed([made]):
        install(cluster_of(made), made, [tmp_path / "data"], tmp_path / "installation")
        yield made


def cluster_of(node: Node, **more: Any) -> Cluster:
    other = Node(name="n2", address="192.0.2.1:1")
    known: dict[str, Any] = {"allow_data_loss": True, **more}
    return Cluster(name="c", database="mongodb", environment="test", nodes=(node, other), **known)


def spec_of(node: Node) -> SshSpec:
    assert isinstance(node.host, SshSpec)
    return node.host


def test_every_act_is_done_with_these_rights_and_nothing_beyond_them(
    node: Node, far: Sshd, tmp_path: Path
) -> None:
    host, data = SshHost(node), tmp_path / "data"
    every = acts_of(cluster_of(node), node)
    assert host.missing_rights(every) == []
    check_acts(host, data)
    check_partition(host)
    check_reboot(host, tmp_path)
    check_beyond(host, node, tmp_path)
    log, place = sudo_log(far), helpers_of("n1", spec_of(node))
    for act in ("kill", "pause", "empty", "partition", "start"):
        assert f"USER=root ; COMMAND={place}/{act} " in log
    assert "a password is required ; PWD=/ ; USER=root ; COMMAND=/bin/sh -s" in log


def check_acts(host: SshHost, data: Path) -> None:
    assert host.start().evidence["listening"]
    assert host.running().running
    assert host.pause(60).evidence["state"] == "paused"
    assert host.running().paused
    assert host.resume().evidence["state"] == "running"
    assert host.stop("clean").evidence["state"] == "gone"
    host.start()
    with pytest.raises(Denied, match="not allowed: empty"):  # it runs
        host._runner.run(script(directories.SCRIPTS["empty"], data, identity_of(data)))
    assert host.stop("kill").evidence["signal"] == "SIGKILL"
    (data / "records").write_text("all of them")
    host.check_wipe([data])
    host.wipe([data])
    assert list(data.iterdir()) == []
    assert host.entries(data) == []
    assert host.read_text(data.parent / "etc" / "node.conf") == "data: there\n"
    assert host.machine.startswith("boot ")
    link = Link(node_of(), host)
    assert link.delayed() == ""
    link.why_no_delay()
    link.undelay()


def check_partition(ssh: SshHost) -> None:
    host = Link(node_of(), ssh)
    if reason := host.why_no_partition():
        pytest.skip(f"NOT TESTED: the partition: {reason}")
    try:
        host.partition(["192.0.2.1:1"], 60)
        assert host.cut_off() == ["192.0.2.1"]
        with pytest.raises(Denied, match="not allowed: partition"):
            host.partition(["192.0.2.77:1"], 60)
    finally:
        host.heal_partition()
    assert host.cut_off() == []
    check_bad_link(ssh)


def check_bad_link(ssh: SshHost) -> None:
    """Each filter is allowed for the cluster alone and in its own shape; the port is not used."""
    network = ssh.network()
    of_cluster, of_others = ("192.0.2.1:1",), ("192.0.2.77:1",)
    wanted = {
        packet_loss.FILTER: Match("both", "others", of_cluster, 1, 1000),
        one_way.FILTER: Match("in", "these", of_cluster),
        bandwidth.FILTER: Match("in", "others", of_cluster, 1, rate=125_000),
        cut_off.FILTER: Match(addresses=of_cluster, port=1),
    }
    for each, match in wanted.items():
        try:
            assert each.why_not(network) == ""
            each.drop(network, match, 60)
            assert each.look(network).rules.keys() == set(match.directions)
            with pytest.raises(Denied, match=f"not allowed: {each.act.replace('_', '-')}"):
                each.drop(network, replace(match, addresses=of_others), 60)
        finally:
            each.clear(network)
    with pytest.raises(Denied, match="not allowed: one-way"):
        one_way.FILTER.drop(network, Match("both", "these", of_cluster), 60)
    with pytest.raises(Denied, match="not allowed: bandwidth"):
        bandwidth.FILTER.drop(network, Match("in", "these", of_cluster), 60)


def check_reboot(host: SshHost, tmp_path: Path) -> None:
    """The order alone: this machine is to stay as it is."""
    runner, boot = host._runner, BOOT_ID.__fspath__()
    now = Path(boot).read_text().strip()
    command = f"touch {tmp_path / 'rebooted'}"
    assert runner.run(script(SCRIPTS["reboot"], boot, now, command)).status == 0
    assert (tmp_path / "rebooted").owner() == "root"
    with pytest.raises(Denied, match="not allowed: reboot"):
        runner.run(script(SCRIPTS["reboot"], boot, now, "touch /etc/anything"))


def identity_of(place: Path) -> str:
    found = place.stat()
    return f"{found.st_dev}:{found.st_ino}"


def check_beyond(host: SshHost, node: Node, tmp_path: Path) -> None:
    """What is not the node's is refused, by the helpers or by sudo, and stays as it is."""
    runner = host._runner
    with subprocess.Popen(["sleep", "600"]) as foreign:
        for signal in ("end", "pause"):
            arguments = (foreign.pid, 1, 10**9, "KILL", "", "") if signal == "end" else (
                foreign.pid, 1, 10**9, 60)  # fmt: skip
            with pytest.raises(Denied, match="not allowed"):
                runner.run(script(signals.SCRIPTS[signal], *arguments))
        assert foreign.poll() is None
        foreign.kill()
    elsewhere, data = tmp_path / "elsewhere", tmp_path / "data"
    elsewhere.mkdir()
    (elsewhere / "letter").write_text("dear")
    with pytest.raises(Denied, match="not allowed: is-device"):
        host.wipe([elsewhere])
    (data / "way-out").symlink_to(elsewhere)
    for place in (elsewhere, data / "way-out", data / ".." / "elsewhere"):
        with pytest.raises(Denied, match="not allowed: empty"):
            runner.run(script(directories.SCRIPTS["empty"], place, identity_of(place)))
    for file in (Path("/etc/shadow"), data / "way-out" / "letter"):
        with pytest.raises(Denied, match="not allowed: read"):
            host.read_text(file)
    assert (elsewhere / "letter").read_text() == "dear"
    login = connection_for(spec_of(node).login("127.0.0.1"))
    with pytest.raises(Denied, match=naming("sudo", getpass.getuser())):
        SshRunner(login, sudo=True).run(script("id"))


@pytest.mark.matrix
def test_a_helper_of_another_version_is_named_and_sudo_does_not_run_it(
    node: Node, tmp_path: Path
) -> None:
    host, spec = SshHost(node), spec_of(node)
    helper = Path(helpers_of("n1", spec)) / "locate"
    helper.write_text(helper.read_text() + "# another version\n")
    (why,) = [each for each in host.missing_rights(["kill"]) if "another version" in each]
    assert str(helper) in why
    with pytest.raises(Denied, match=naming("sudo", getpass.getuser())):
        locate("n1", spec, host._runner)
    shutil.rmtree(helper.parent)
    assert all("is not there" in each for each in host.missing_rights(["kill"]))


@pytest.mark.matrix
def test_what_the_inventory_denies_is_not_among_the_rights(node: Node, tmp_path: Path) -> None:
    calm = cluster_of(node, guards=Guards(deny_acts=("kill", "reboot")), allow_data_loss=False)
    acts = acts_of(calm, node)
    assert acts.isdisjoint({"kill", "reboot", "wipe"})
    text = installation(calm, node, [tmp_path / "data"]).sudoers
    for name in ("/reboot", "/empty", "_REBOOT", "_WIPE"):
        assert f"{name} " not in text
        assert f"{name}\n" not in text
    none = cluster_of(node, guards=Guards(deny_nodes=("n1",)))
    assert acts_of(none, node) == set()


# What follows needs no user and no sudo.


def node_of(**host: Any) -> Node:
    settings = {"address": "db1", "user": "ann", "sudo": "helpers", "service": "stone", **host}
    return Node(name="n1", address="db1:27017", host=SshSpec.model_validate(settings))


def test_a_sudoers_file_names_each_helper_by_its_digest_and_nothing_by_a_wildcard() -> None:
    files = installation(cluster_of(node_of()), node_of(), [Path("/data/n1")]).files
    lines = files["sudoers"].splitlines()
    commands = [line.strip(" ,\\") for line in lines if "/usr/local/lib/" in line]
    for command in commands:
        digest, path = command.rpartition("sha256:")[2].split()
        text = files[f"helpers/{PurePosixPath(path).name}"]
        assert digest == hashlib.sha256(text.encode()).hexdigest()
    assert not any("*" in line or "/bin/sh" in line for line in lines)
    assert lines[-1] == "ann ALL=(root) NOPASSWD: BROWNOUT_N1"
    assert files["directories"] == "/data/n1\n"
    assert files["peers"] == "192.0.2.1\n"


@pytest.mark.parametrize("user", ["root", "ann lee", "%wheel"])
def test_a_login_that_a_sudoers_line_cannot_be_for_is_refused(user: str) -> None:
    node = node_of(user=user)
    with pytest.raises(ConfigurationError, match="wanted a user who is not root"):
        installation(cluster_of(node), node, [])


@pytest.mark.parametrize(
    ("config", "path", "allowed"),
    [
        ("/etc/passwd", "/etc/passwd", True),
        ("/etc/passwd", "/etc/shadow", False),
        ("/etc/passwd", "/etc/passwd.d/more.conf", True),
        ("/etc/redis.conf", "/etc/redis.d/more.conf", True),
        ("/etc/default/etcd", "/etc/default/other", False),
        ("/home/ann/node.conf", "/home/ann/.ssh/id", False),
        ("/home/ann/etc/node.conf", "/home/ann/etc/more.conf", True),
        ("/etc/stone/stone.conf", "/etc/stone/more.conf", True),
        ("/etc/stone/stone.conf", "/etc/passwd", False),
        ("/etc/stone/stone.conf", "/etc/stone/../shadow", False),
        ("/etc/stone/stone.conf", "/etc/machine-id", True),
        (None, "/etc/machine-id", True),
        (None, "/etc/passwd", False),
        (None, "/data/n1/file", True),
    ],
)
def test_what_is_read_is_the_node_s_own_also_where_its_configuration_lies_among_others(
    config: str | None, path: str, allowed: bool, tmp_path: Path
) -> None:
    node = node_of(helpers=str(tmp_path), **({"config_file": config} if config else {}))
    files = installation(cluster_of(node), node, [Path("/data/n1")]).files
    for name, text in files.items():
        (tmp_path / Path(name).name).write_text(text)
    for helper in ("read", "entries", "resolve"):
        done = subprocess.run(["/bin/sh", str(tmp_path / helper), path], capture_output=True)
        assert (done.returncode != 77) is allowed, (helper, done.stderr)
