"""The user's own ~/.ssh/config fills what the inventory leaves open, and switches no check off."""

from pathlib import Path

import pytest
from tests.sshd import Sshd

from brownout.base.errors import ConfigurationError
from brownout.machine.commands import script
from brownout.machine.ssh.config import resolved
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.spec import Bastion, Login

CONFIG = """\
Host db1
  HostName db1.example.com
  Port 2222
  User ann
  IdentityFile ~/.ssh/missing
  IdentityFile ~/.ssh/ops
  ProxyJump ops@jump:2200,inner
Host inner
  HostName inner.example.com
  User in
Host loop
  ProxyJump loop
Host odd
  Port many
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with this configuration and one of its keys."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(CONFIG)
    (tmp_path / ".ssh" / "ops").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_an_alias_gets_its_name_port_user_key_and_the_way_to_it(home: Path) -> None:
    (home / "hosts").touch()
    found = resolved(Login(address="db1", known_hosts=home / "hosts"))

    assert (found.address, found.port, found.user) == ("db1.example.com", 2222, "ann")
    assert found.identity_file == home / ".ssh" / "ops"
    inner = found.bastion
    assert inner is not None
    assert (inner.address, inner.user, inner.known_hosts) == (
        "inner.example.com", "in", home / "hosts",
    )  # fmt: skip
    outer = inner.bastion
    assert outer is not None
    assert (outer.address, outer.port, outer.user, outer.bastion) == ("jump", 2200, "ops", None)


def test_what_the_inventory_says_wins(home: Path) -> None:
    own = home / "own"
    own.touch()
    way = Bastion(address="other")
    login = Login(address="db1", port=22, user="bob", identity_file=own, bastion=way)

    found = resolved(login)

    assert (found.port, found.user, found.identity_file) == (22, "bob", own)
    assert found.bastion == way


def test_the_settings_of_a_node_keep_what_they_were_given(home: Path) -> None:
    assert resolved(Login(address="db1", port=22).login()).port == 22
    assert resolved(Login().login("db1")).port == 2222


def test_a_jump_that_leads_through_itself_is_taken_once(home: Path) -> None:
    found = resolved(Login(address="loop"))

    assert found.bastion is not None
    assert found.bastion.bastion is None


def test_without_the_file_a_login_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    login = Login(address="db1")

    assert resolved(login) is login


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\.ssh/config` cannot be read: .*[Pp]ort"):
        resolved(Login(address="odd"))


def test_a_machine_is_reached_by_its_alias_and_its_host_key_is_checked(
    sshd: Sshd, home: Path
) -> None:
    text = f"Host db\n HostName 127.0.0.1\n Port {sshd.port}\n StrictHostKeyChecking no\n"
    (home / ".ssh" / "config").write_text(f"{text} UserKnownHostsFile none\n")
    login = Login(address="db", identity_file=sshd.identity, known_hosts=sshd.known_hosts)

    assert SshRunner(connection_for(login)).run(script("echo in")).output == "in\n"

    nobody = home / "nobody"
    nobody.touch()
    with pytest.raises(ConfigurationError, match=rf"port {sshd.port}\) is unknown"):
        connection_for(login.model_copy(update={"known_hosts": nobody})).connect()
